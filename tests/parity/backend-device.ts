// Runs kernels through a real backend: one plan with a program for every case of every kernel. So the parity tests take the
// same way as a training run, from the call record to the slots.

import type { Backend, Executable } from '../../engine/backends/backend.ts';
import type { Call, Plan, Program, Slot, SlotRef, TensorPlace } from '../../engine/plan/plan.ts';
import { hostView } from '../../engine/backends/host-arrays.ts';
import {
  elementBytes,
  elementCount,
  type KernelContract,
  type Operand,
  type ParityCase,
} from '../../kernels/contract.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { type GuardedOperand, guardWords, type KernelDevice, testedKernels } from './parity.ts';

/** A kernel device over a compiled plan; `close` ends the backend with it. */
export interface BackendDevice extends KernelDevice {
  close(): Promise<void>;
}

/** Compiles the cases of the kernels under test, or of those named, for a backend. */
export const openKernelDevice = (
  backend: Backend,
  name: string,
  names: readonly KernelName[] = testedKernels,
): Promise<BackendDevice> =>
  openContracts(
    backend,
    name,
    names.map((each) => kernels[each]),
  );

/** The same of contracts, whose cases may be other ones than the kernels' own. */
export async function openContracts(
  backend: Backend,
  name: string,
  contracts: readonly KernelContract[],
): Promise<BackendDevice> {
  const executable = await backend.compile(planOfCases(contracts));
  return {
    name,
    runKernel: (kernel, parityCase, inputs, outputs) => runCase(executable, kernel, parityCase, inputs, outputs),
    async close() {
      executable.dispose();
      await backend.close();
    },
  };
}

async function runCase(
  executable: Executable,
  kernel: KernelContract,
  parityCase: ParityCase,
  inputs: readonly GuardedOperand[],
  outputs: readonly GuardedOperand[],
): Promise<readonly GuardedOperand[]> {
  const program = programOf(kernel, parityCase);
  const write = (operands: readonly Operand[], values: readonly GuardedOperand[]): void =>
    operands.forEach((operand, index) => {
      const words = values[index];
      if (!words) return;
      const type = rawType(operand);
      const data = hostView(type, words.buffer, 0, words.byteLength / elementBytes[type]);
      executable.write(`${program}.${operand.name}`, data);
    });
  write(kernel.inputs, inputs);
  write(kernel.outputs, outputs);
  await executable.run(program, (parityCase.step ?? 0) + 1);
  const read = async (operand: Operand, index: number): Promise<GuardedOperand> => {
    const words = outputs[index];
    if (!words) return words;
    const values = await executable.read(
      `${program}.${operand.name}`,
      0,
      words.byteLength / elementBytes[rawType(operand)],
    );
    return new Uint32Array(values.buffer, values.byteOffset, words.length);
  };
  return Promise.all(kernel.outputs.map(read));
}

/** A plan in which every operand of every case has a slot of its own, as raw words with room for the guards. */
function planOfCases(contracts: readonly KernelContract[]): Plan {
  const slots: Slot[] = [];
  const tensors: Record<string, TensorPlace> = {};
  const programs: Record<string, Program> = {};
  for (const kernel of contracts) {
    for (const parityCase of kernel.cases) {
      const program = programOf(kernel, parityCase);
      const place = (operand: Operand): SlotRef | null => {
        if (parityCase.absent?.includes(operand.name)) return null;
        const count = elementCount(operand.shape(parityCase.params));
        const type = rawType(operand);
        const words = Math.ceil((count * elementBytes[type]) / 4);
        const elements = (4 * (words + 2 * guardWords)) / elementBytes[type];
        const label = `${program}.${operand.name}`;
        const slot = slots.length;
        slots.push({ id: slot, elements, type, kind: 'persistent', label });
        tensors[label] = { slot, offset: 0, shape: [elements], type };
        return { slot, offset: (4 * guardWords) / elementBytes[type] };
      };
      const inputs = kernel.inputs.map(place);
      const outputs = kernel.outputs.map(place);
      const call: Call = { kernel: kernel.name, inputs, outputs, params: parityCase.params };
      programs[program] = { name: program, batch: 1, calls: [call], ...kernel.cost(parityCase.params) };
    }
  }
  const steps = contracts.flatMap((kernel) => kernel.cases.map((parityCase) => (parityCase.step ?? 0) + 1));
  return { slots, tensors, programs, stepCapacity: Math.max(1, ...steps), checkpoint: [] };
}

/** What stands in a slot: words of 32 bits, but for other sizes. */
const rawType = ({ type }: Operand): 'u8' | 'u32' | 'f64' => (type === 'u8' || type === 'f64' ? type : 'u32');

const programOf = (kernel: KernelContract, parityCase: ParityCase): string =>
  `${kernel.name} ${kernel.cases.indexOf(parityCase)}`;
