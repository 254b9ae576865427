// A step in parts: what a batch that does not fit the memory is cut into, the programs that make the gradient of a part and add it
// up, and the one that updates the parameters in the end.

import { gradientsOf } from '../graph/tensors.ts';
import { reserved, type LoweredCall, type LoweredOperand } from '../graph/op.ts';
import type { ParameterLayout } from './layout.ts';
import { programName, stillProgram, updateProgram, type Sequence } from './plan.ts';

/** Parts of `rows` rows, as even as can be: at most `most` rows each, but at least `least` if there are as many. */
export function partsOf(rows: number, most: number, least = 1): readonly number[] {
  const count = Math.max(1, Math.min(Math.ceil(rows / most), Math.floor(rows / least)));
  const [size, longer] = [Math.floor(rows / count), rows % count];
  return Array.from({ length: count }, (_, i) => (i < longer ? size + 1 : size));
}

/** Rows of each device of a step of `rows`, as close to `shares` as can be; none has fewer than `least`, but may have none. */
export function rowsByShares(rows: number, shares: readonly number[], least = 1): readonly number[] {
  const whole = shares.reduce((sum, share) => sum + share, 0);
  // Where the shares so far end, to the nearest row: sums of the rows are never off by more than one.
  let before = 0;
  let done = 0;
  const sizes = shares.map((share) => {
    before += share;
    const size = Math.round((rows * before) / whole) - done;
    done += size;
    return size;
  });
  const largest = sizes.indexOf(Math.max(...sizes));
  return sizes.map((size, device) => {
    if (device !== largest) return size < least ? 0 : size;
    return size + sizes.reduce((sum, other, i) => sum + (i !== largest && other < least ? other : 0), 0);
  });
}

/** The different numbers of rows of the parts of steps, largest first. */
export function partSizes(parts: (batch: number) => readonly number[], batches: readonly number[]): readonly number[] {
  return [...new Set(batches.flatMap(parts))].toSorted((a, b) => b - a);
}

/** The table of row numbers of programs that take so many rows. */
export const indicesOf = (rows: number, largest: number): 'step.indices' | `step.indices@${number}` =>
  rows === largest ? 'step.indices' : `step.indices@${rows}`;

/** Adds the gradients of a part to those of the parts before it. */
export function accumulateCall({ count }: ParameterLayout, steps: number): LoweredCall {
  return {
    kernel: 'accumulate',
    inputs: [reserved('gradients'), reserved('step.shares')],
    outputs: [reserved('gradients.sum')],
    params: { count, steps },
  };
}

/** Adds the gradients that another device has summed, each with its share of the batch in it already. */
export function joinCall({ count }: ParameterLayout, device: number): LoweredCall {
  return {
    kernel: 'accumulate',
    inputs: [reserved(gradientsOf(device)), reserved('step.join')],
    outputs: [reserved('gradients.sum')],
    params: { count, steps: 1 },
  };
}

/** The same calls with running statistics left as they are; null where there are none. */
export function stillCalls(calls: readonly LoweredCall[]): readonly LoweredCall[] | null {
  const norm = 'batch_norm';
  if (!calls.some(({ kernel }) => kernel === norm)) return null;
  return calls.map((call) => (call.kernel === norm ? { ...call, params: { ...call.params, momentum: 0 } } : call));
}

/** The same calls, with the rows of a step from another table. */
export function withIndices(
  calls: readonly LoweredCall[],
  table: ReturnType<typeof indicesOf>,
): readonly LoweredCall[] {
  const renamed = (operand: LoweredOperand): LoweredOperand =>
    operand !== null && typeof operand === 'object' && 'tensor' in operand && operand.tensor === 'step.indices'
      ? reserved(table)
      : operand;
  return calls.map((call) => ({ ...call, inputs: call.inputs.map(renamed) }));
}

/**
 * A step over these parts: runs of parts of one size are one part of the sequence; the update uses the row of the last. `programs`: those of the plan;
 * `length`: of shorter texts; `devices`: whose part each is.
 */
export function sequenceOf(
  batch: number,
  sizes: readonly number[],
  programs: ReadonlySet<string>,
  { length, devices }: { readonly length?: number; readonly devices?: readonly number[] } = {},
): Sequence {
  const runs: { program: string; first: number; rows: number; device?: number }[] = [];
  sizes.forEach((size, row) => {
    const device = devices?.[row];
    const gradients = programName('gradients', size, length);
    const still = stillProgram(gradients);
    const program = device && programs.has(still) ? still : gradients;
    const last = runs.at(-1);
    if (last?.program === program && last.device === device) last.rows++;
    else runs.push({ program, first: row, rows: 1, ...(device === undefined ? {} : { device }) });
  });
  const update = { program: updateProgram, first: sizes.length - 1, rows: 1 };
  return { name: programName('train', batch, length), batch, tableRows: sizes.length, parts: [...runs, update] };
}
