// Cutting the depth of a product into splits: more workgroups for a small result over a deep sum. Each split has its own
// partial results, and a second pass adds them in order: no atomics, so the same bits every time. How many splits there are
// follows from the shape alone.

import type { GpuContext, GpuPass } from './gpu-contract.ts';
import { splitDepth } from './gpu-product.ts';
import { elementwise, elementwiseView, type ElementwiseView } from './gpu-wgsl.ts';

/** Depth a split has to have at least, to be worth its second pass. */
const leastSplitDepth = 128;
/** Workgroups of a 32 × 32 tile that need no splitting: several for each of the 132 processors of a large GPU. */
const enoughGroups = 1024;
const nominalTile = 32;

/** How many parts the depth k of `layers` m × n products is cut into; none is empty. Fewer than `least` are not worth it. */
export function splitsOf(m: number, n: number, k: number, layers = 1, least = 2): number {
  const groups = Math.ceil(m / nominalTile) * Math.ceil(n / nominalTile) * layers;
  const wanted = Math.min(Math.floor(k / leastSplitDepth), Math.floor(enoughGroups / groups));
  return wanted < least ? 1 : Math.ceil(k / splitDepth(k, wanted));
}

/** The operand itself, or its partial results. */
export const partialName = (operand: string, splits: number): string => (splits === 1 ? operand : `partial_${operand}`);

/** The temporaries for operands of these sizes. */
export function partialSizes(
  sizes: Readonly<Record<string, number>>,
  splits: number,
  context: GpuContext,
): Readonly<Record<string, number>> {
  if (splits === 1) return {};
  const present = Object.entries(sizes).filter(([operand]) => context.has(operand));
  return Object.fromEntries(present.map(([operand, size]) => [partialName(operand, splits), splits * size]));
}

/** The passes that add the partial results up, one for each operand that is present. */
export function sumSplits(
  sizes: Readonly<Record<string, number>>,
  splits: number,
  context: GpuContext,
): readonly GpuPass[] {
  if (splits === 1) return [];
  const present = Object.entries(sizes).filter(([operand]) => context.has(operand));
  return present.map(([operand, size]) => sumPass(operand, splits, elementwiseView(size, context.limits)));
}

/** What becomes of a sum: WGSL on `value: V` at `i`, the functions it calls and the operands it reads, seen as V. */
export interface SumFinish {
  readonly code: string;
  readonly functions: string;
  readonly reads: readonly string[];
}

/** operand[i] = Σ partial_operand[split, i] in the order of the splits, finished. */
export function sumPass(operand: string, splits: number, view: ElementwiseView, finish?: SumFinish): GpuPass {
  const partial = partialName(operand, splits);
  const body = `var value = ${partial}[i];
  for (var split = 1u; split < ${splits}u; split++) { value += ${partial}[split * LENGTH + i]; }
  ${finish?.code ?? ''}
  ${operand}[i] = value;`;
  const reads = [partial, ...(finish?.reads ?? [])];
  return {
    label: `sum of ${operand}`,
    reads: Object.fromEntries(reads.map((name) => [name, view.element])),
    writes: { [operand]: view.element },
    code: elementwise(view, body, finish?.functions),
    workgroups: view.workgroups,
  };
}
