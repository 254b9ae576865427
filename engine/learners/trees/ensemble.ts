// Trees that answer together: each adds the values of a row's leaf to the row's scores.

import type { ColumnBins } from './bins.ts';
import type { BinnedRows } from './rows.ts';
import { walkOf, type Tree } from './tree.ts';

/** Rows that pass all trees before the next ones do: their bins stay in the cache. */
const blockRows = 512;
/** Rows times trees between two looks at messages. */
const visits = 400_000;

/**
 * Adds the trees to `scores` [to − from, outputs] of the rows from … to − 1. A tree has as many values a leaf as there are outputs,
 * or one: then tree t is of output t modulo `outputs`, the first of them being tree `first`.
 */
export function* addTrees(
  scores: Float64Array,
  outputs: number,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  { bins, width }: Pick<BinnedRows, 'bins' | 'width'>,
  from: number,
  to: number,
  first = 0,
): Generator<void, void, void> {
  const walks = trees.map((tree) => walkOf(tree, columns));
  let visited = 0;
  for (let start = from; start < to; start += blockRows) {
    const end = Math.min(to, start + blockRows);
    for (let t = 0; t < trees.length; t++) {
      const { value, rows: leaves } = trees[t];
      const walk = walks[t];
      const each = value.length / leaves.length;
      const k = each === 1 ? (first + t) % outputs : 0;
      for (let row = start; row < end; row++) {
        const leaf = walk.leafOf(bins, row * width);
        const at = (row - from) * outputs + k;
        for (let i = 0; i < each; i++) scores[at + i] += value[leaf * each + i];
      }
    }
    visited += (end - start) * trees.length;
    if (visited < visits) continue;
    visited = 0;
    yield;
  }
}

/** Does all of some work at once. */
export function finish<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
