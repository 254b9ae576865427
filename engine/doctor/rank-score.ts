// How well outputs put rows in order, beside what chance makes of it: the rank correlation of values (0), and of classes the share of
// pairs, one row of a class and one of another, in which the class is likelier for its own row (0.5; of two classes the area under the ROC
// curve, of more its mean over all pairs, so that a class of three rows counts for three). Scores of ranks, since a training this short is
// not yet sure of anything.

import type { OutputSpec } from '../model/spec.ts';
import { shuffle } from '../optim/random.ts';
import { probabilities } from '../train/metrics.ts';
import type { SampledRows } from './check.ts';

/**
 * Standard deviations of chance by which a score has to differ from it, and may be said to do so perhaps; `telling`: the share of the way
 * from chance to perfect that has to be seen before nothing can be said to be there.
 */
export const chance = { apart: 3, perhaps: 2, telling: 0.4, fewestRows: 20, fewestSteps: 100 } as const;
/** Labels dealt out anew to the same outputs, whose scores are chance (Fisher's permutation test). */
const deals = 200;

export interface RankScore {
  readonly name: string;
  readonly value: number;
  readonly chance: number;
  /** Standard deviation of it where outputs know nothing of the targets. */
  readonly deviation: number;
}

/** 0 where every row was given the same: that tells nothing. */
export const deviationsApart = ({ value, chance, deviation }: RankScore): number =>
  deviation > 0 ? (value - chance) / deviation : 0;

/** What the validation rows of a sample are to be given. */
export function targetsOf({ data, shard }: SampledRows): Float32Array {
  const { train, validation } = data.counts;
  return Float32Array.from({ length: validation }, (_, row) => shard.y[(train + row) * data.targets]);
}

/** `value` is NaN where all targets are the same. */
export function rankScore(output: OutputSpec, outputs: Float32Array, targets: Float32Array, seed: number): RankScore {
  const rows = targets.length;
  if (output.kind === 'value') {
    const value = correlation(ranks(outputs), ranks(targets));
    // Exactly so over all orders, whatever the ties.
    return { name: 'rank correlation', value, chance: 0, deviation: 1 / Math.sqrt(rows - 1) };
  }
  const classes = output.classes.length;
  const likely = probabilities(outputs, rows, classes);
  const byClass = Array.from({ length: classes }, (_, k) =>
    ranks(Float64Array.from({ length: rows }, (_, row) => likely[row * classes + k])),
  );
  const counts = new Array<number>(classes).fill(0);
  for (const target of targets) counts[target]++;
  const pairs = counts.reduce((sum, count) => sum + count * (rows - count), 0);
  const least = counts.reduce((sum, count) => sum + (count * (count + 1)) / 2, 0);
  const score = (order: Uint32Array): number => {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += byClass[targets[order[row]]][row];
    return (sum - least) / pairs;
  };
  const order = Uint32Array.from(targets, (_, row) => row);
  const value = score(order);
  let squares = 0;
  for (let deal = 0; deal < deals; deal++) {
    shuffle(order, seed, deal, 4);
    squares += (score(order) - 0.5) ** 2;
  }
  return { name: 'ROC area', value, chance: 0.5, deviation: Math.sqrt(squares / deals) };
}

/** From 1; the mean of those of equal values. */
function ranks(values: Float32Array | Float64Array): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const found = new Float64Array(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let i = from; i < to; i++) found[order[i]] = (from + to + 1) / 2;
    from = to;
  }
  return found;
}

function correlation(a: Float64Array, b: Float64Array): number {
  const mean = (a.length + 1) / 2;
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) ** 2;
    bb += (b[i] - mean) ** 2;
  }
  // The same answer for every row tells nothing.
  return aa === 0 || bb === 0 ? (bb === 0 ? NaN : 0) : ab / Math.sqrt(aa * bb);
}
