// From lowered programs to a plan: every operand gets a place in memory. Programs run one at a time, so their scratch values
// share one pool.

import { elementBytes } from '../../kernels/contract.ts';
import { kernels, type KernelName } from '../../kernels/registry.ts';
import type { ValueId } from '../graph/graph.ts';
import { sizeOf, type LoweredCall, type LoweredOperand } from '../graph/op.ts';
import type { Layout } from './layout.ts';
import { isValue, type LoweredProgram } from './lower.ts';
import { planScratch, type ScratchSlot } from './memory.ts';
import type { Call, CallOperand, Plan, Program } from './plan.ts';
import { PlanError, verifyPlan } from './verify.ts';

/** The plan of these programs over the named tensors of `layout`, which gets the scratch slots too. */
export function assemblePlan(
  layout: Layout,
  programs: readonly LoweredProgram[],
  rest: Pick<Plan, 'stepCapacity' | 'checkpoint' | 'sequences'>,
): Plan {
  const pool: ScratchSlot[] = [];
  const scratch = programs.map((program) => planProgram(program, pool));
  const firstScratch = layout.slots.length;
  pool.forEach(({ elements, type }, i) => layout.slot(`scratch ${i}`, elements, 'scratch', type));
  const finished = programs.map((program, i) => {
    const place = (operand: LoweredOperand): CallOperand | null => {
      if (operand === null) return null;
      if (!isValue(operand)) return placeOf(layout, 'tensor' in operand ? operand.tensor : operand.state);
      const { shape } = program.graph.values[operand];
      const value = program.storage.get(operand) ?? operand;
      const tensor = program.named.get(value);
      if (tensor !== undefined) {
        const placed = { ...placeOf(layout, tensor), shape };
        return program.copied?.has(value) ? { ...placed, slot: placeOf(layout, 'parameters.half').slot } : placed;
      }
      return { slot: firstScratch + scratch[i].get(value)!, offset: 0, shape };
    };
    const saved = ({ inputs, outputs }: LoweredCall): number =>
      [...inputs, ...outputs].reduce<number>((sum, operand) => {
        if (operand === null) return sum;
        // The kernels of the update count no copies of weights: this is what one writes of them.
        if (!isValue(operand)) return sum - ('tensor' in operand ? bytesOfCopies(layout, operand.tensor) : 0);
        const value = program.storage.get(operand) ?? operand;
        const half = program.named.has(value) ? program.copied : program.halves;
        if (!half?.has(value)) return sum;
        return sum + 2 * sizeOf(program.graph.values[value].shape);
      }, 0);
    return [program.name, finishProgram(program, place, saved)] as const;
  });
  const plan = { slots: layout.slots, tensors: layout.tensors, programs: Object.fromEntries(finished), ...rest };
  verifyPlan(plan);
  return plan;
}

function planProgram({ calls, graph, named, storage, halves }: LoweredProgram, pool: ScratchSlot[]) {
  const scratchValue = (operand: LoweredOperand): readonly ValueId[] => {
    if (!isValue(operand)) return [];
    const value = storage.get(operand) ?? operand;
    return named.has(value) ? [] : [value];
  };
  return planScratch(
    calls.map(({ inputs, outputs }) => [...inputs, ...outputs].flatMap(scratchValue)),
    pool,
    (value) => ({
      elements: sizeOf(graph.values[value].shape),
      type: halves?.has(value) ? 'f16' : graph.values[value].type,
    }),
  );
}

function placeOf(layout: Layout, tensor: string): CallOperand {
  const place = layout.tensors[tensor];
  if (!place) throw new PlanError(`a call names the tensor ${tensor}, which the plan does not have`);
  const { slot, offset, shape } = place;
  return { slot, offset, shape };
}

function bytesOfCopies({ tensors }: Layout, tensor: string): number {
  const { slot, shape, type } = tensors[tensor];
  return slot === tensors['parameters.half']?.slot ? elementBytes[type] * sizeOf(shape) : 0;
}

function finishProgram(
  { name, batch, calls }: LoweredProgram,
  place: (operand: LoweredOperand) => CallOperand | null,
  saved: (call: LoweredCall) => number,
): Program {
  let flops = 0;
  let bytes = 0;
  const finished = calls.map((call): Call => {
    const cost = kernels[call.kernel as KernelName].cost(call.params as never);
    flops += cost.flops;
    const less = saved(call);
    bytes += cost.bytes - less;
    const placed = { ...call, inputs: call.inputs.map(place), outputs: call.outputs.map(place) };
    return less !== 0 ? { ...placed, saved: less } : placed;
  });
  return { name, batch, calls: finished, flops, bytes };
}
