// Trees that answer together: each adds the values of a row's leaf to the row's scores.

import type { ColumnBins } from './bins.ts';
import type { BinnedRows } from './rows.ts';
import { walkOf, type Tree, type Walk } from './tree.ts';

/** Rows that pass all trees before the next ones do: their bins stay in the cache. */
const blockRows = 512;
/** Rows times trees between two looks at messages. */
const visits = 400_000;

/**
 * Adds the trees to `scores` [to − from, outputs] of the rows from … to − 1. A tree with a value a leaf is of output t modulo
 * `outputs`, the first of them being of output 0. `walks`: those of the trees, where
 * there are many calls.
 */
export function* addTrees(
  scores: Float64Array,
  outputs: number,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  { bins, width }: Pick<BinnedRows, 'bins' | 'width'>,
  from: number,
  to: number,
  walks: readonly Walk[] = trees.map((tree) => walkOf(tree, columns)),
): Generator<void, void, void> {
  let visited = 0;
  for (let start = from; start < to; start += blockRows) {
    const end = Math.min(to, start + blockRows);
    for (let t = 0; t < trees.length; t++) {
      const { value, spread } = trees[t];
      const walk = walks[t];
      for (let row = start; row < end; row++) {
        const leaf = walk.leafOf(bins, row * width);
        const at = (row - from) * outputs;
        if (spread === null) scores[at + (t % outputs)] += value[leaf];
        else addSpread(scores, at, value, spread, leaf);
      }
    }
    visited += (end - start) * trees.length;
    if (visited < visits) continue;
    visited = 0;
    yield;
  }
}

/** Adds what a leaf says of several outputs. */
export function addSpread(
  scores: Float64Array,
  at: number,
  value: Float64Array,
  { starts, outputs }: NonNullable<Tree['spread']>,
  leaf: number,
): void {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) scores[at + outputs[i]] += value[i];
}

/** Does all of some work at once. */
export function finish<Result>(work: Generator<unknown, Result, void>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The same where others may have their turn. */
export async function finishAsync<Result>(work: AsyncGenerator<void, Result, void>): Promise<Result> {
  for (;;) {
    const { done, value } = await work.next();
    if (done) return value;
  }
}
