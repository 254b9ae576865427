// The confusion matrix as it is drawn: which classes have a place, and how strong each cell is.

import { visible } from '../../../../engine/protocol/visible.ts';
import type { SplitEvaluation } from '../../../../engine/protocol/evaluation.ts';

/** More classes than this cannot be read side by side: then those with the most mistakes are shown. */
export const mostClasses = 24;

export interface Cell {
  readonly truth: number;
  readonly predicted: number;
}

export const cellWords = ({ truth, predicted }: Cell, names: readonly string[]): string =>
  truth === predicted ? `${names[truth]}, recognised` : `${names[truth]} taken for ${names[predicted]}`;

/**
 * What is worth looking at first: the commonest mistake, else the first class that has rows; null without rows.
 * @param confusion  rows are true classes, [K, K]
 */
export function firstCell(confusion: ArrayLike<number>, K: number): Cell | null {
  const cells = Array.from(confusion, (count, i) => ({ count, truth: Math.floor(i / K), predicted: i % K }));
  const mistakes = cells.filter(({ truth, predicted, count }) => truth !== predicted && count > 0);
  const largest = mistakes.reduce((best, cell) => (cell.count > best.count ? cell : best), mistakes[0]);
  const { truth, predicted } = largest ?? cells.find(({ count }) => count > 0) ?? { truth: -1, predicted: -1 };
  return truth < 0 ? null : { truth, predicted };
}

export interface Matrix {
  /** Classes shown, in their order. */
  readonly shown: readonly number[];
  readonly names: readonly string[];
  readonly counts: readonly (readonly number[])[];
  /** Rows in all, and how many of them are wrong. */
  readonly rows: number;
  readonly mistakes: number;
  /** 0 … 1: right cells by the largest right one, wrong cells by the largest wrong one. */
  readonly strength: (truth: number, predicted: number) => number;
}

/** Null where an evaluation has no classes. */
export function matrixOf(evaluation: SplitEvaluation | undefined): Matrix | null {
  const { confusion, classes } = evaluation ?? {};
  if (!confusion || !classes) return null;
  const wrongOf = classes.map(({ rows, predicted }, k) => rows + predicted - 2 * confusion[k][k]);
  const shown = [...classes.keys()]
    .sort((a, b) => wrongOf[b] - wrongOf[a] || a - b)
    .slice(0, mostClasses)
    .sort((a, b) => a - b);
  let right = 0;
  let rows = 0;
  const largest = { right: 1, wrong: 1 };
  confusion.forEach((counts, truth) =>
    counts.forEach((count, predicted) => {
      rows += count;
      if (truth === predicted) right += count;
      const kind = truth === predicted ? 'right' : 'wrong';
      largest[kind] = Math.max(largest[kind], count);
    }),
  );
  return {
    shown,
    names: classes.map(({ name }) => visible(name)),
    counts: confusion,
    rows,
    mistakes: rows - right,
    strength: (truth, predicted) => confusion[truth][predicted] / largest[truth === predicted ? 'right' : 'wrong'],
  };
}
