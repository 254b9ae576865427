// Which settings matter: functional analysis of variance (Hutter, Hoos and Leyton-Brown, ICML 2014). A forest of regression trees learns the
// score from the settings; of each tree the variance over the whole cube is told apart exactly, into the shares of single dimensions and of
// pairs. N trials, D dimensions.

import { sequentialWords } from '../optim/random.ts';
import type { Point } from './space.ts';

const treesOfForest = 32;
const mostLeaves = 48;
const leastRows = 3;
/** Trials that a forest learns from at most. */
const mostTrials = 1_000;
const stream = 4304;

/** A box of the cube and what it is worth. */
interface Leaf {
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly value: number;
}

export interface Importance {
  /** [D] shares of the variance that single dimensions explain. */
  readonly single: readonly number[];
  /** Shares of pairs beyond their single ones, the largest first. */
  readonly pairs: readonly { readonly of: readonly [number, number]; readonly share: number }[];
}

/** Trials below which nothing is told of so many dimensions. */
export const leastTrials = (D: number): number => Math.max(2 * leastRows, 2 * D);

/** Null where there are too few trials to tell. NaN in a point: the dimension did not count. */
export function importanceOf(points: readonly Point[], scores: readonly number[], seed: number): Importance | null {
  const D = points[0]?.length ?? 0;
  if (D === 0 || points.length < leastTrials(D)) return null;
  const capped = withoutOutliers(scores);
  const sums = { single: new Float64Array(D), pairs: new Float64Array(D * D), trees: 0 };
  for (let tree = 0; tree < treesOfForest; tree++) addTree(growTree(points, capped, seed, tree), D, sums);
  if (sums.trees === 0) return null;
  const pairs: { of: [number, number]; share: number }[] = [];
  for (let i = 0; i < D; i++)
    for (let j = i + 1; j < D; j++) pairs.push({ of: [i, j], share: sums.pairs[i * D + j] / sums.trees });
  return {
    single: Array.from(sums.single, (share) => share / sums.trees),
    pairs: pairs.sort((one, other) => other.share - one.share),
  };
}

/** A score far worse than most says only that it is bad: beyond the worst quarter by three times its spread, all count alike. */
function withoutOutliers(scores: readonly number[]): readonly number[] {
  const sorted = [...scores].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
  const most = at(0.75) + 3 * (at(0.75) - at(0.25));
  return scores.map((score) => Math.min(score, most));
}

function addTree(
  leaves: readonly Leaf[],
  D: number,
  sums: { single: Float64Array; pairs: Float64Array; trees: number },
): void {
  const { total, single, pairs } = variancesOf(leaves, D);
  if (total <= 0) return;
  sums.trees++;
  for (let i = 0; i < D; i++) sums.single[i] += single[i] / total;
  for (let i = 0; i < D * D; i++) sums.pairs[i] += pairs[i] / total;
}

/** The variance of a tree over the cube, and what single dimensions and pairs (i < j) have of it. */
export function variancesOf(
  leaves: readonly Leaf[],
  D: number,
): { readonly total: number; readonly single: Float64Array; readonly pairs: Float64Array } {
  const volume = ({ low, high }: Leaf): number => low.reduce((product, from, i) => product * (high[i] - from), 1);
  const volumes = leaves.map(volume);
  const mean = leaves.reduce((sum, { value }, at) => sum + volumes[at] * value, 0);
  const total = leaves.reduce((sum, { value }, at) => sum + volumes[at] * (value - mean) ** 2, 0);
  const cuts = Array.from({ length: D }, (_, i) =>
    [...new Set(leaves.flatMap(({ low, high }) => [low[i], high[i]]))].sort((a, b) => a - b),
  );
  const single = new Float64Array(D);
  const pairs = new Float64Array(D * D);
  for (let i = 0; i < D; i++) {
    single[i] = marginal(leaves, volumes, mean, cuts, [i]);
    for (let j = 0; j < i; j++)
      pairs[j * D + i] = Math.max(0, marginal(leaves, volumes, mean, cuts, [j, i]) - single[i] - single[j]);
  }
  return { total, single, pairs };
}

/** The variance of the mean over all other dimensions. */
function marginal(
  leaves: readonly Leaf[],
  volumes: readonly number[],
  mean: number,
  cuts: readonly (readonly number[])[],
  of: readonly number[],
): number {
  const sizes = of.map((i) => cuts[i].length - 1);
  if (sizes.some((size) => size < 1)) return 0;
  const [n, m] = [sizes[0], sizes[1] ?? 1];
  const means = new Float64Array(n * m);
  leaves.forEach(({ low, high, value }, at) => {
    const [from, to] = [0, 1].map((k) =>
      k < of.length ? [cuts[of[k]].indexOf(low[of[k]]), cuts[of[k]].indexOf(high[of[k]])] : [0, 1],
    );
    const rest = of.reduce((left, i) => left / (high[i] - low[i]), volumes[at]);
    for (let a = from[0]; a < from[1]; a++) for (let b = to[0]; b < to[1]; b++) means[a * m + b] += rest * value;
  });
  let variance = 0;
  for (let a = 0; a < n; a++)
    for (let b = 0; b < m; b++) {
      const width = cuts[of[0]][a + 1] - cuts[of[0]][a];
      const height = of.length > 1 ? cuts[of[1]][b + 1] - cuts[of[1]][b] : 1;
      variance += width * height * (means[a * m + b] - mean) ** 2;
    }
  return variance;
}

/** Cuts the leaf that gains most, again and again; each tree sees rows drawn with replacement and random cuts among the best. */
function growTree(points: readonly Point[], scores: readonly number[], seed: number, tree: number): readonly Leaf[] {
  const D = points[0].length;
  const words = sequentialWords(seed, stream, tree);
  const next = (): number => words() / 2 ** 32;
  const count = Math.min(points.length, mostTrials);
  const rows = Array.from({ length: count }, () => Math.floor(next() * points.length));
  const place = (row: number, i: number): number => (Number.isNaN(points[row][i]) ? 0.5 : points[row][i]);
  const open = [grown(rows, { low: new Float64Array(D), high: new Float64Array(D).fill(1) })];
  while (open.length < mostLeaves) {
    const at = open.reduce((best, leaf, index) => (leaf.gain > open[best].gain ? index : best), 0);
    const leaf = open[at];
    if (leaf.cut === null || leaf.gain <= 0) break;
    const { dimension, where } = leaf.cut;
    const [low, high] = [leaf.low.slice(), leaf.high.slice()];
    low[dimension] = high[dimension] = where;
    const [left, right] = [true, false].map((below) =>
      leaf.rows.filter((row) => place(row, dimension) <= where === below),
    );
    open.splice(at, 1, grown(left, { low: leaf.low, high }), grown(right, { low, high: leaf.high }));
  }
  return open.map(({ low, high, value }) => ({ low, high, value }));

  function grown(own: readonly number[], box: Pick<Leaf, 'low' | 'high'>) {
    const value = own.reduce((sum, row) => sum + scores[row], 0) / own.length;
    let [gain, cut]: [number, { dimension: number; where: number } | null] = [0, null];
    for (let dimension = 0; dimension < D; dimension++) {
      // A third of the dimensions is left out of each cut, so that trees differ.
      if (D > 2 && next() < 1 / 3) continue;
      const found = bestCut(own, dimension);
      if (found.gain > gain) [gain, cut] = [found.gain, { dimension, where: found.where }];
    }
    return { ...box, rows: own, value, gain, cut };
  }

  function bestCut(own: readonly number[], dimension: number): { readonly gain: number; readonly where: number } {
    const sorted = [...own].sort((a, b) => place(a, dimension) - place(b, dimension));
    const total = sorted.reduce((sum, row) => sum + scores[row], 0);
    let best = { gain: 0, where: 0 };
    let left = 0;
    for (let i = 0; i + 1 < sorted.length; i++) {
      left += scores[sorted[i]];
      const [here, there] = [place(sorted[i], dimension), place(sorted[i + 1], dimension)];
      if (i + 1 < leastRows || sorted.length - i - 1 < leastRows || here === there) continue;
      const gain = left ** 2 / (i + 1) + (total - left) ** 2 / (sorted.length - i - 1) - total ** 2 / sorted.length;
      if (gain > best.gain + 1e-12) best = { gain, where: (here + there) / 2 };
    }
    return best;
  }
}
