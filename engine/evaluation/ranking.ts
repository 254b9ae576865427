// Rows in the order of a score, and what follows from the order alone: ROC, precision and recall, gain. Rows of equal scores stand
// or fall together, so that no figure depends on their order.

import { fallingOrder } from './order.ts';

/** Rows by falling score. */
export interface Ranking {
  /** [N] row at each place. */
  readonly order: Uint32Array;
  /** [N] score at each place. */
  readonly scores: Float64Array;
  /** [N] 1 where the row at that place is of the class that is looked for. */
  readonly positive: Uint8Array;
  /** [N] 1 where the next place has another score. */
  readonly last: Uint8Array;
  readonly positives: number;
}

/** Areas under the two curves; NaN where they do not exist: a class is missing. */
export interface Areas {
  readonly roc: number;
  readonly pr: number;
}

/** `scores` [N], none below 0; `truth` [N] class numbers, `wanted` the one that is looked for. */
export function rank(scores: Float64Array, truth: Int32Array, wanted: number): Ranking {
  const order = fallingOrder(scores);
  const rows = scores.length;
  const sorted = new Float64Array(rows);
  const positive = new Uint8Array(rows);
  const last = new Uint8Array(rows);
  let positives = 0;
  for (let place = 0; place < rows; place++) {
    const row = order[place];
    sorted[place] = scores[row];
    if (truth[row] === wanted) {
      positive[place] = 1;
      positives++;
    }
    if (place > 0 && sorted[place] !== sorted[place - 1]) last[place - 1] = 1;
  }
  if (rows > 0) last[rows - 1] = 1;
  return { order, scores: sorted, positive, last, positives };
}

/**
 * Area under ROC (ties count half: Mann & Whitney 1947) and average precision, both with a weight a row: `weights` [N] by row, null
 * = 1 each.
 */
export function areas({ order, positive, last }: Ranking, weights: ArrayLike<number> | null): Areas {
  let found = 0;
  let alarms = 0;
  let wins = 0;
  let precisions = 0;
  let groupFound = 0;
  let groupAlarms = 0;
  const rows = order.length;
  for (let place = 0; place < rows; place++) {
    const weight = weights === null ? 1 : weights[order[place]];
    if (positive[place] === 1) groupFound += weight;
    else groupAlarms += weight;
    if (last[place] === 0) continue;
    wins += groupAlarms * (found + groupFound / 2);
    found += groupFound;
    alarms += groupAlarms;
    if (groupFound > 0) precisions += (groupFound * found) / (found + alarms);
    groupFound = 0;
    groupAlarms = 0;
  }
  return { roc: wins / (found * alarms), pr: precisions / found };
}

/** A curve through the thresholds, from the strictest on. */
export interface RankingCurve {
  readonly thresholds: Float64Array;
  /** Rows that are taken for the class at each, and how many of them are. */
  readonly taken: Float64Array;
  readonly found: Float64Array;
}

/** Counts after each distinct score; the first point has taken nothing. */
export function countsByThreshold({ scores, positive, last }: Ranking): RankingCurve {
  const points = 1 + last.reduce((sum, one) => sum + one, 0);
  const curve = {
    thresholds: new Float64Array(points),
    taken: new Float64Array(points),
    found: new Float64Array(points),
  };
  curve.thresholds[0] = Infinity;
  let found = 0;
  let point = 0;
  for (let place = 0; place < scores.length; place++) {
    found += positive[place];
    if (last[place] === 0) continue;
    point++;
    curve.thresholds[point] = scores[place];
    curve.taken[point] = place + 1;
    curve.found[point] = found;
  }
  return curve;
}

/** Points of a curve as shares. */
export interface Curve {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** Share of the others taken for the class by mistake, against the share of the class that is found. */
export function rocCurve(ranking: Ranking): Curve {
  const { taken, found } = countsByThreshold(ranking);
  const others = ranking.order.length - ranking.positives;
  return {
    x: taken.map((count, i) => (count - found[i]) / others),
    y: found.map((count) => count / ranking.positives),
  };
}

/** Recall against precision; the point that takes nothing has precision 1, as in scikit-learn. */
export function precisionRecallCurve(ranking: Ranking): Curve {
  const { taken, found } = countsByThreshold(ranking);
  return {
    x: found.map((count) => count / ranking.positives),
    y: taken.map((count, i) => (count === 0 ? 1 : found[i] / count)),
  };
}

/** Share of the rows that are looked at, surest first, against the share of the class found among them. */
export function gainCurve(ranking: Ranking): Curve {
  const { taken, found } = countsByThreshold(ranking);
  return { x: taken.map((count) => count / ranking.order.length), y: found.map((count) => count / ranking.positives) };
}

/** At most about `most` points of a curve: those where it bends stay within half a pixel of `1 / most`. */
export function thinned({ x, y }: Curve, most = 400): Curve {
  const kept: number[] = [];
  for (let i = 0; i < x.length; i++) {
    const previous = kept.at(-1);
    const far = previous === undefined || Math.abs(x[i] - x[previous]) + Math.abs(y[i] - y[previous]) >= 1 / most;
    if (far || i === x.length - 1) kept.push(i);
  }
  return { x: Float64Array.from(kept, (i) => x[i]), y: Float64Array.from(kept, (i) => y[i]) };
}
