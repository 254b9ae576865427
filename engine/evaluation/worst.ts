// The rows a run is most wrong about: of classes those it was surest of and wrong, of numbers those it is farthest off.

import type { ClassRows, ValueRows } from '../protocol/evaluated-rows.ts';
import { predictedClass } from './class-scores.ts';
import { errorsOf, type ErrorUnit } from './residuals.ts';

/** [N] 1 where a row is taken for another class than its own; of two classes also where that missed the second. */
export interface Mistakes {
  readonly wrong: Float64Array;
  readonly missed: Uint8Array;
}

export function mistakesOf({ truth, probabilities, classes }: ClassRows, threshold = 0.5): Mistakes {
  const wrong = new Float64Array(truth.length);
  const missed = new Uint8Array(truth.length);
  for (let row = 0; row < truth.length; row++) {
    if (predictedClass(probabilities, row, classes.length, threshold) === truth[row]) continue;
    wrong[row] = 1;
    if (truth[row] === 1) missed[row] = 1;
  }
  return { wrong, missed };
}

/** Places of the rows of one cell of the confusion matrix. */
export function rowsOfCell(
  { truth, probabilities, classes }: ClassRows,
  cell: { readonly truth: number; readonly predicted: number },
  threshold = 0.5,
): readonly number[] {
  return [...truth.keys()].filter(
    (row) =>
      truth[row] === cell.truth && predictedClass(probabilities, row, classes.length, threshold) === cell.predicted,
  );
}

/** Places of the least values, the least first, of equal ones the first place first; those that are no numbers are left out. */
function leastPlaces(values: Float64Array, most: number): readonly number[] {
  const inOrder = (a: number, b: number): number => values[a] - values[b] || a - b;
  // Far more are gathered than wanted, so that they are sorted seldom; after that hardly any is below the last of them.
  const room = Math.max(1024, 4 * most);
  let found: number[] = [];
  let last = Infinity;
  for (let place = 0; place < values.length; place++) {
    // A value that is no number is below nothing.
    if (!(values[place] < last)) continue;
    found.push(place);
    if (found.length < room) continue;
    found = found.sort(inOrder).slice(0, most);
    last = values[found[most - 1]];
  }
  return found.sort(inOrder).slice(0, most);
}

export interface WrongClass {
  /** Place in the prediction table. */
  readonly place: number;
  readonly truth: number;
  readonly predicted: number;
  /** Of what is so, and of what was said. */
  readonly ofTruth: number;
  readonly ofPredicted: number;
  readonly loss: number;
}

/** Wrong rows, the smallest probability of what is so first. */
export function worstClasses(table: ClassRows, most: number, threshold = 0.5): readonly WrongClass[] {
  const { truth, probabilities, classes } = table;
  const K = classes.length;
  const own = new Float64Array(truth.length);
  for (let row = 0; row < own.length; row++) {
    const wrong = predictedClass(probabilities, row, K, threshold) !== truth[row];
    own[row] = wrong ? probabilities[row * K + truth[row]] : NaN;
  }
  return leastPlaces(own, most).map((place) => {
    const predicted = predictedClass(probabilities, place, K, threshold);
    const ofTruth = own[place];
    const loss = -Math.log(Math.max(ofTruth, Number.EPSILON));
    return {
      place,
      truth: truth[place],
      predicted,
      ofTruth,
      ofPredicted: probabilities[place * K + predicted],
      loss,
    };
  });
}

export interface WrongValue {
  readonly place: number;
  readonly truth: number;
  readonly predicted: number;
  /** Predicted − true, and as a share of the true value (null where that is 0). */
  readonly error: number;
  readonly share: number | null;
}

/** The farthest off first, in the unit in which errors are told. */
export function worstValues(table: ValueRows, most: number, unit: ErrorUnit): readonly WrongValue[] {
  const { truth, predicted } = table;
  const near = errorsOf(table, unit);
  for (let row = 0; row < near.length; row++) near[row] = -Math.abs(near[row]);
  return leastPlaces(near, most).map((place) => {
    const error = predicted[place] - truth[place];
    return {
      ...{ place, truth: truth[place], predicted: predicted[place], error },
      share: truth[place] === 0 ? null : error / Math.abs(truth[place]),
    };
  });
}
