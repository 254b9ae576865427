// The plan's verifier: every call has the operands its kernel declares, each of its type and shape, inside its slot and aligned,
// none both read and written; and a program that makes gradients makes all of them. Runs on every compiled plan.

import { kernels, type KernelName } from '../../kernels/registry.ts';
import { elementBytes, elementCount, type KernelContract, type Operand } from '../../kernels/contract.ts';
import { formatShape } from '../graph/errors.ts';
import { alignmentBytes } from './layout.ts';
import type { Call, CallOperand, Plan, Program } from './plan.ts';

export class PlanError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PlanError';
  }
}

/** Throws PlanError naming the program, the call and the operand that is wrong. */
export function verifyPlan(plan: Plan): void {
  for (const program of Object.values(plan.programs)) {
    program.calls.forEach((call, index) => verifyCall(plan, call, `${program.name} call ${index} (${call.kernel})`));
    verifyGradients(plan, program);
  }
  for (const { name, tableRows, parts } of Object.values(plan.sequences ?? {})) {
    if (name in plan.programs) throw new PlanError(`${name} is a program and a sequence`);
    for (const { program, first, rows } of parts) {
      if (!(program in plan.programs))
        throw new PlanError(`${name} has the part ${program}, which the plan does not have`);
      if (first + rows > tableRows)
        throw new PlanError(`${name}: ${program} reaches beyond the ${tableRows} rows of a step`);
    }
  }
}

function verifyCall(plan: Plan, call: Call, where: string): void {
  const contract = contractOf(call);
  if (!contract) throw new PlanError(`${where}: no such kernel`);
  const missing = Object.keys(contract.params).filter((name) => call.params[name] === undefined);
  const extra = Object.keys(call.params).filter((name) => !(name in contract.params));
  if (missing.length + extra.length > 0) {
    throw new PlanError(`${where}: missing parameters [${missing.join()}], unknown [${extra.join()}]`);
  }
  const problem = contract.problem?.(call.params);
  if (problem) throw new PlanError(`${where}: ${problem}`);
  const check = (operands: readonly Operand[], refs: readonly (CallOperand | null)[]): void => {
    if (operands.length !== refs.length) {
      throw new PlanError(`${where}: ${refs.length} operands, the kernel declares ${operands.length}`);
    }
    operands.forEach((operand, i) => verifyOperand(plan, call, operand, refs[i], `${where}: operand ${operand.name}`));
  };
  check(contract.inputs, call.inputs);
  check(contract.outputs, call.outputs);
  for (const output of call.outputs) {
    if (output && call.inputs.some((input) => input?.slot === output.slot)) {
      throw new PlanError(`${where}: slot ${output.slot} is read and written`);
    }
  }
}

const contractOf = (call: Call): KernelContract => kernels[call.kernel as KernelName];

function verifyOperand(plan: Plan, call: Call, operand: Operand, ref: CallOperand | null, what: string): void {
  if (ref === null) {
    if (!operand.optional) throw new PlanError(`${what} is missing`);
    return;
  }
  const slot = plan.slots[ref.slot];
  if (!slot) throw new PlanError(`${what} names slot ${ref.slot}, which does not exist`);
  const type = operand.type ?? 'f32';
  // Numbers of 16 bits are another way to store float32 between two calls.
  const copies = ref.slot === plan.tensors['parameters.half']?.slot;
  const stored = slot.type === 'f16' && (slot.kind === 'scratch' || copies) ? 'f32' : slot.type;
  if (stored !== type) throw new PlanError(`${what} is ${type}, its slot “${slot.label}” ${slot.type}`);
  // Copies lie where the weights do, at half as many bytes.
  const alignment = copies ? alignmentBytes / 2 : alignmentBytes;
  if ((ref.offset * elementBytes[slot.type]) % alignment !== 0) {
    throw new PlanError(`${what} starts at element ${ref.offset}, no multiple of ${alignment} bytes`);
  }
  const declared = operand.shape(call.params);
  if (!ref.shape) throw new PlanError(`${what} has no shape`);
  const elements = elementCount(declared);
  // Of the tables of a submit a program uses as much as its steps need.
  const table = slot.kind === 'step' || slot.kind === 'ring';
  if (table ? elements > elementCount(ref.shape) : !regroups(declared, ref.shape)) {
    throw new PlanError(`${what} has to be ${formatShape(declared)}, it is ${formatShape(ref.shape)}`);
  }
  if (ref.offset + elements > slot.elements) {
    throw new PlanError(
      `${what} needs ${elements} elements from ${ref.offset}, slot “${slot.label}” has ${slot.elements}`,
    );
  }
}

/**
 * Whether one shape is the other with neighbouring dimensions joined, as kernels see tensors of any rank: [8,3,5,5] is
 * [24,25] and [600], but [6,4] is not [4,6].
 */
export function regroups(a: readonly number[], b: readonly number[]): boolean {
  if (elementCount(a) !== elementCount(b)) return false;
  if (elementCount(a) === 0) return true;
  const [first, second] = [boundaries(a), boundaries(b)];
  const [fewer, more] = first.size <= second.size ? [first, second] : [second, first];
  return [...fewer].every((boundary) => more.has(boundary));
}

/** Elements of one step along each dimension. */
function boundaries(shape: readonly number[]): ReadonlySet<number> {
  const steps = new Set<number>([1]);
  shape.reduceRight((step, size) => {
    steps.add(step * size);
    return step * size;
  }, 1);
  return steps;
}

/** A gradient nobody writes is the last step's, or zero: a parameter that never trains, and nothing would tell. */
function verifyGradients(plan: Plan, program: Program): void {
  const gradients = Object.entries(plan.tensors).filter(([name]) => name.startsWith('gradient:'));
  const slots = new Set(gradients.map(([, { slot }]) => slot));
  const written = new Map([...slots].map((slot): [number, Range[]] => [slot, []]));
  for (const call of program.calls) {
    const { outputs } = contractOf(call);
    call.outputs.forEach((ref, i) => {
      const ranges = ref && written.get(ref.slot);
      if (!ranges) return;
      const operand: Operand = outputs[i];
      const parts = operand.writes?.(call.params) ?? [[0, elementCount(operand.shape(call.params))] as const];
      for (const [start, end] of parts) ranges.push([ref.offset + start, ref.offset + end]);
    });
  }
  const makesGradients = program.name.startsWith('train@') || [...written.values()].some((ranges) => ranges.length > 0);
  if (!makesGradients) return;
  const joined = new Map([...written].map(([slot, ranges]) => [slot, joinRanges(ranges)]));
  for (const [name, { slot, offset, shape }] of gradients) {
    const end = offset + elementCount(shape);
    if (end > offset && !joined.get(slot)!.some((range) => range[0] <= offset && end <= range[1])) {
      throw new PlanError(`${program.name}: not all of ${name} ${formatShape(shape)} is written`);
    }
  }
}

type Range = readonly [start: number, end: number];

/** The same elements in as few ranges as possible. */
function joinRanges(ranges: readonly Range[]): readonly Range[] {
  const joined: [number, number][] = [];
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
