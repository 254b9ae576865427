// Which rows of the validation split a cell of the confusion matrix stands for, surest first.

import type { RunPredictions } from '../protocol/evaluation.ts';

/** A cell; null = any class. Both null: every mistake. */
export interface MatrixCell {
  readonly truth: number | null;
  readonly predicted: number | null;
}

/** Places in the lists of the predictions, by falling probability of what was predicted. */
export function placesOf({ truth, predicted, probability }: RunPredictions, cell: MatrixCell): readonly number[] {
  const mistakes = cell.truth === null && cell.predicted === null;
  return [...truth.keys()]
    .filter((place) => {
      if (mistakes) return truth[place] !== predicted[place];
      return (
        (cell.truth === null || truth[place] === cell.truth) &&
        (cell.predicted === null || predicted[place] === cell.predicted)
      );
    })
    .sort((a, b) => probability[b] - probability[a] || a - b);
}
