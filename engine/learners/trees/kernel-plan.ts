// Plans for work that is no network's: named tensors, and programs whose calls find their operands by name.

import type { ElementType, KernelContract } from '../../../kernels/contract.ts';
import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { Call, Plan, Program, Slot, TensorPlace } from '../../plan/plan.ts';

export interface PlannedCall {
  readonly kernel: KernelName;
  readonly params: Readonly<Record<string, number>>;
  /** For operands whose name is not their tensor's. */
  readonly others?: Readonly<Record<string, string>>;
}

/** Operands that no tensor is named for are absent. */
export function kernelPlan(
  tensors: Readonly<Record<string, { readonly type: ElementType; readonly elements: number }>>,
  programs: Readonly<Record<string, readonly PlannedCall[]>>,
): Plan {
  const slots = Object.entries(tensors).map(([label, { type, elements }], id): Slot => ({
    ...{ id, label, kind: 'persistent', type },
    elements: Math.max(1, elements),
  }));
  const places = Object.fromEntries(
    slots.map(({ id, label, type, elements }): [string, TensorPlace] => [
      label,
      { slot: id, offset: 0, shape: [elements], type },
    ]),
  );
  const callOf = ({ kernel, params, others = {} }: PlannedCall): Call => {
    const contract: KernelContract = kernels[kernel];
    const of = (operands: KernelContract['inputs']): Call['inputs'] =>
      operands.map(({ name }) => (places[others[name] ?? name] as TensorPlace | undefined) ?? null);
    return { kernel, inputs: of(contract.inputs), outputs: of(contract.outputs), params };
  };
  const programOf = (name: string, calls: readonly PlannedCall[]): Program => {
    const costs = calls.map(({ kernel, params }) => (kernels[kernel] as KernelContract).cost(params));
    const sum = (kind: 'flops' | 'bytes'): number => costs.reduce((total, cost) => total + cost[kind], 0);
    return { name, batch: 1, calls: calls.map(callOf), flops: sum('flops'), bytes: sum('bytes') };
  };
  return {
    slots,
    tensors: places,
    programs: Object.fromEntries(Object.entries(programs).map(([name, calls]) => [name, programOf(name, calls)])),
    stepCapacity: 1,
    checkpoint: [],
  };
}
