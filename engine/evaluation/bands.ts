// 95 % bands around ROC and precision-recall: rows are resampled, and at each place of the x axis the middle 95 % of the curves stay. Of many
// rows a fixed part is resampled and the deviations are scaled, as for the intervals of scores.

import { fewestResampled, percentiles, resampledRows, resamplings, widened } from './intervals.ts';
import type { Ranking } from './ranking.ts';

/** Between `low` and `high` at each `x`. */
export interface Band {
  readonly x: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export interface Bands {
  readonly roc: Band;
  readonly pr: Band;
}

/** Fewer than for a score: a band is wide and drawn, not written. */
const times = 400;
const mostRows = 2_048;
const places = 51;
/** Resamples between two pauses. */
const together = 10;

/** Rows by falling score, as `Ranking` has them. */
type Ranked = Pick<Ranking, 'positive' | 'last'>;

/** Null where too few rows say anything. */
export function* curveBands(ranking: Ranking): Generator<void, Bands | null> {
  const rows = ranking.order.length;
  if (rows < fewestResampled) return null;
  const part = partOf(ranking, mostRows);
  const count = part.positive.length;
  const draws = { roc: grid(times), pr: grid(times) };
  let number = 0;
  for (const weights of resamplings(count, times)) {
    const at = curvesAt(part, weights);
    for (let place = 0; place < places; place++) {
      draws.roc[place][number] = at.roc[place];
      draws.pr[place][number] = at.pr[place];
    }
    if (++number % together === 0) yield;
  }
  const [whole, center] = [curvesAt(ranking, null), curvesAt(part, null)];
  const bandOf = (kind: 'roc' | 'pr'): Band => {
    const ends = draws[kind].map((values, place) =>
      widened(percentiles(values), whole[kind][place], center[kind][place], count / rows),
    );
    return {
      x: Float64Array.from({ length: places }, (_, place) => place / (places - 1)),
      low: Float64Array.from(ends, ({ low }) => Math.max(0, low)),
      high: Float64Array.from(ends, ({ high }) => Math.min(1, high)),
    };
  };
  return { roc: bandOf('roc'), pr: bandOf('pr') };
}

const grid = (length: number): Float64Array[] => Array.from({ length: places }, () => new Float64Array(length));

function partOf({ order, scores, positive }: Ranking, most: number): Ranked {
  const taken = new Uint8Array(order.length);
  for (const row of resampledRows(order.length, most)) taken[row] = 1;
  const kept = Array.from(order.keys()).filter((place) => taken[order[place]] === 1);
  return {
    positive: Uint8Array.from(kept, (place) => positive[place]),
    last: Uint8Array.from(kept, (place, i) => (i === kept.length - 1 || scores[place] !== scores[kept[i + 1]] ? 1 : 0)),
  };
}

/** Both curves at even places of their x axes, each row with its weight; NaN where a class has none. ROC is linear between thresholds, precision is that of the first threshold that reaches the recall. */
function curvesAt({ positive, last }: Ranked, weights: ArrayLike<number> | null) {
  const [roc, pr] = [new Float64Array(places).fill(NaN), new Float64Array(places).fill(NaN)];
  let [wanted, others] = [0, 0];
  for (let i = 0; i < positive.length; i++) {
    const weight = weights === null ? 1 : weights[i];
    if (positive[i] === 1) wanted += weight;
    else others += weight;
  }
  if (wanted === 0 || others === 0) return { roc, pr };
  let [found, alarms, x, y, nextRoc, nextPr] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < positive.length; i++) {
    const weight = weights === null ? 1 : weights[i];
    if (positive[i] === 1) found += weight;
    else alarms += weight;
    if (last[i] === 0 || found + alarms === 0) continue;
    const [toX, toY] = [alarms / others, found / wanted];
    for (; nextRoc < places && nextRoc / (places - 1) < toX; nextRoc++) {
      roc[nextRoc] = y + ((toY - y) * (nextRoc / (places - 1) - x)) / (toX - x);
    }
    for (; found > 0 && nextPr < places && nextPr / (places - 1) <= toY + 1e-12; nextPr++) {
      pr[nextPr] = found / (found + alarms);
    }
    [x, y] = [toX, toY];
  }
  roc.fill(1, nextRoc);
  return { roc, pr };
}
