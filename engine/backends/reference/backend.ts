// The reference backend: runs a plan with the float64 references of the kernels. Slow and simple; every other backend is
// measured against it, and gradients are checked on it by central differences.

import { elementCount, type Operand } from '../../../kernels/contract.ts';
import { fromHalf, toHalf } from '../../../kernels/half.ts';
import { references } from '../../../kernels/references.ts';
import { kernels, type KernelName } from '../../../kernels/registry.ts';
import { copyOf, stepOf, type Call, type Plan, type SlotRef } from '../../plan/plan.ts';
import type { Backend, Executable } from '../backend.ts';
import { fromHost, type HostArray, toHost } from '../host-arrays.ts';
import { Pace } from '../pace.ts';

export function createReferenceBackend(): Backend {
  return {
    device: { kind: 'reference', name: 'Reference (float64, slow)', threads: 1 },
    halfStorage: true,
    compile: async (plan) => new ReferenceExecutable(plan),
    close: async () => {},
  };
}

type Views = Readonly<Record<string, Float64Array | null>>;

/** Runs a plan in float64. `values` gives direct access for gradient checks. */
export class ReferenceExecutable implements Executable {
  readonly bytes: number;
  readonly #plan: Plan;
  readonly #slots: readonly Float64Array[];
  readonly #paces = new Map<string, Pace>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#slots = plan.slots.map((slot) => new Float64Array(slot.elements));
    this.bytes = this.#slots.reduce((sum, slot) => sum + slot.byteLength, 0);
  }

  /** The float64 values of a tensor, not a copy. */
  values(tensor: string): Float64Array {
    const { slot, offset, shape } = this.#plan.tensors[tensor];
    return this.#slots[slot].subarray(offset, offset + elementCount(shape));
  }

  write(tensor: string, data: HostArray, offset = 0): void {
    const values = fromHost(this.#plan.tensors[tensor].type, data);
    this.values(tensor).set(values, offset);
    const copy = copyOf(this.#plan, tensor);
    if (copy) this.#slots[copy.slot].set(fromHost('f16', toHost('f16', values)), copy.offset + offset);
  }

  async read(tensor: string, offset = 0, length?: number): Promise<HostArray> {
    const values = this.values(tensor).subarray(offset, length === undefined ? undefined : offset + length);
    return toHost(this.#plan.tensors[tensor].type, values);
  }

  async run(program: string, steps: number, from = 0): Promise<void> {
    const { tableRows, parts } = stepOf(this.#plan, program)!;
    const start = performance.now();
    for (let step = from; step < from + steps; step++) {
      for (const { program: name, first, rows } of parts) {
        const { calls } = this.#plan.programs[name];
        for (let row = 0; row < rows; row++)
          for (const call of calls) this.#execute(call, step * tableRows + first + row);
      }
    }
    if (steps === 0) return;
    const pace = this.#paces.get(program) ?? new Pace();
    this.#paces.set(program, pace);
    pace.report(steps, performance.now() - start);
  }

  stepsAtOnce(program: string): number {
    return this.#paces.get(program)?.steps ?? 1;
  }

  dispose(): void {}

  #execute(call: Call, step: number): void {
    const name = call.kernel as KernelName;
    const contract = kernels[name];
    const views = (operands: readonly Operand[], refs: readonly (SlotRef | null)[]): Views =>
      Object.fromEntries(operands.map((operand, i) => [operand.name, this.#view(operand, refs[i], call)]));
    const inputs = views(contract.inputs as readonly Operand[], call.inputs);
    const outputs = views(contract.outputs as readonly Operand[], call.outputs);
    references[name](inputs, outputs, call.params as never, step);
    call.outputs.forEach((ref, i) => {
      const values = ref && this.#plan.slots[ref.slot].type === 'f16' && outputs[contract.outputs[i].name];
      if (values) values.forEach((value, at) => (values[at] = fromHalf(toHalf(value))));
    });
  }

  #view(operand: Operand, ref: SlotRef | null, call: Call): Float64Array | null {
    if (ref === null) return null;
    return this.#slots[ref.slot].subarray(ref.offset, ref.offset + elementCount(operand.shape(call.params)));
  }
}
