// The densities of the tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011), multivariate (Falkner et al., ICML 2018): a mixture
// of products, a kernel a trial and one for what was believed before. Bandwidths and weights are those of Optuna 5. In the unit cube;
// n trials, n + 1 kernels, D dimensions.

import { binOf, valueAtPlace, type Dimension, type Point } from './space.ts';

/** Trials that weigh fully; of more, older ones weigh less, down to 1 / n. */
const newest = 25;

interface NumberKernels {
  readonly means: Float64Array;
  readonly deviations: Float64Array;
  readonly logDeviations: Float64Array;
  /** log of the share of each kernel that lies within the interval. */
  readonly within: Float64Array;
  /** Of whole numbers that were asked for: log of each kernel's probability of them. Candidates ask for the same ones again. */
  readonly ofWhole: Map<number, Float64Array>;
}

/** [kernels][choices] probabilities. */
type ChoiceKernels = readonly Float64Array[];

export class ParzenEstimator {
  readonly #space: readonly Dimension[];
  /** [kernels], that of the prior last; they add up to 1. */
  readonly weights: Float64Array;
  readonly #logWeights: Float64Array;
  readonly #kernels: readonly (NumberKernels | ChoiceKernels)[];

  /** `points`: of trials, the oldest first. A dimension that does not count for one has the kernel of the prior there. */
  constructor(space: readonly Dimension[], points: readonly Point[]) {
    this.#space = space;
    this.weights = weightsOf(points.length);
    this.#logWeights = this.weights.map(Math.log);
    this.#kernels = space.map((dimension, at) => {
      const places = Float64Array.from(points, (point) => point[at]);
      return dimension.kind === 'choice' ? choiceKernels(dimension.values.length, places) : numberKernels(places);
    });
  }

  /** A place drawn from the mixture. `next`: uniform in [0, 1). */
  sample(next: () => number): Point {
    let kernel = 0;
    for (let left = next() - this.weights[0]; left >= 0 && kernel + 1 < this.weights.length;)
      left -= this.weights[++kernel];
    return Float64Array.from(this.#kernels, (kernels) => {
      if (Array.isArray(kernels)) return sampleChoice(kernels[kernel] as Float64Array, next);
      const { means, deviations } = kernels as NumberKernels;
      return sampleNormal(means[kernel], deviations[kernel], next);
    });
  }

  /** log of the density at a place; of whole numbers and choices, of the probability. A dimension that is NaN is left out. */
  logDensity(point: Point): number {
    const logs = this.#logWeights.slice();
    this.#space.forEach((dimension, at) => {
      if (Number.isNaN(point[at])) return;
      const kernels = this.#kernels[at];
      if (dimension.kind === 'choice') {
        const choice = Math.min(dimension.values.length - 1, Math.floor(point[at] * dimension.values.length));
        (kernels as ChoiceKernels).forEach((shares, kernel) => (logs[kernel] += Math.log(shares[choice])));
        return;
      }
      const { means, deviations, logDeviations, within } = kernels as NumberKernels;
      if (dimension.kind === 'integer') {
        const own = logOfWhole(kernels as NumberKernels, dimension, valueAtPlace(dimension, point[at]) as number);
        for (let kernel = 0; kernel < logs.length; kernel++) logs[kernel] += own[kernel];
        return;
      }
      for (let kernel = 0; kernel < logs.length; kernel++) {
        const own = -0.5 * ((point[at] - means[kernel]) / deviations[kernel]) ** 2 - logDeviations[kernel] - halfLogTau;
        logs[kernel] += own - within[kernel];
      }
    });
    let most = -Infinity;
    for (const log of logs) most = Math.max(most, log);
    let sum = 0;
    for (const log of logs) if (log - most > unseen) sum += Math.exp(log - most);
    return most + Math.log(sum);
  }
}

/** Log of a share of the whole that no sum of them would notice. */
const unseen = -60;
const halfLogTau = 0.5 * Math.log(2 * Math.PI);

/** [kernels] log of the probability of a whole number. */
function logOfWhole(kernels: NumberKernels, dimension: Dimension, value: number): Float64Array {
  const { means, deviations, within, ofWhole } = kernels;
  const known = ofWhole.get(value);
  if (known !== undefined) return known;
  const [low, high] = binOf(dimension, value);
  const logs = means.map((mean, kernel) => {
    const deviation = deviations[kernel];
    const own = Math.max(1e-300, share((low - mean) / deviation, (high - mean) / deviation));
    return Math.log(own) - within[kernel];
  });
  ofWhole.set(value, logs);
  return logs;
}

function weightsOf(trials: number): Float64Array {
  const weights = new Float64Array(trials + 1).fill(1);
  const old = trials - newest;
  for (let i = 0; i < old; i++) weights[i] = old === 1 ? 1 / trials : 1 / trials + (i / (old - 1)) * (1 - 1 / trials);
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** As wide as the way to the farther neighbour, within limits; a place at an end does not look beyond itself. */
function numberKernels(places: Float64Array): NumberKernels {
  const n = places.length;
  const least = 1 / Math.min(100, n + 2);
  const order = [...places.keys()].filter((i) => !Number.isNaN(places[i])).sort((a, b) => places[a] - places[b]);
  const known = order.length;
  const means = new Float64Array(n + 1).fill(0.5);
  const deviations = new Float64Array(n + 1).fill(1);
  order.forEach((i, rank) => {
    const before = rank > 0 ? places[i] - places[order[rank - 1]] : known > 1 ? 0 : places[i];
    const after = rank + 1 < known ? places[order[rank + 1]] - places[i] : known > 1 ? 0 : 1 - places[i];
    means[i] = places[i];
    deviations[i] = Math.min(1, Math.max(least, before, after));
  });
  const within = means.map((mean, i) => Math.log(share(-mean / deviations[i], (1 - mean) / deviations[i])));
  return { means, deviations, logDeviations: deviations.map(Math.log), within, ofWhole: new Map() };
}

function choiceKernels(choices: number, places: Float64Array): ChoiceKernels {
  const n = places.length;
  if (n === 0) return [new Float64Array(choices).fill(1 / choices)];
  return Array.from({ length: n + 1 }, (_, kernel) => {
    const shares = new Float64Array(choices).fill(1 / (n + 1));
    if (kernel < n && !Number.isNaN(places[kernel]))
      shares[Math.min(choices - 1, Math.floor(places[kernel] * choices))]++;
    const sum = shares.reduce((a, b) => a + b, 0);
    return shares.map((share) => share / sum);
  });
}

function sampleChoice(shares: Float64Array, next: () => number): number {
  let choice = 0;
  for (let left = next() - shares[0]; left >= 0 && choice + 1 < shares.length;) left -= shares[++choice];
  return (choice + 0.5) / shares.length;
}

/** Of a normal distribution within the unit interval, by rejection: at least a third of its kernels' mass lies there. */
function sampleNormal(mean: number, deviation: number, next: () => number): number {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const drawn = mean + deviation * radius * Math.cos(2 * Math.PI * next());
    if (drawn >= 0 && drawn <= 1) return drawn;
  }
}

/** Mass of the standard normal distribution between two places. */
function share(low: number, high: number): number {
  // On the side of the tail, so that nothing cancels.
  return low > 0 ? tail(low) - tail(high) : high < 0 ? tail(-high) - tail(-low) : 1 - tail(-low) - tail(high);
}

/** Those of erfc's fit, of the highest power first. */
const coefficients = Float64Array.of(
  ...[0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368],
  -1.26551223,
);

/** Mass beyond x ≥ 0, to 1.2e-7 of it (Press et al., Numerical Recipes, 6.2: erfc by Chebyshev's fit). */
function tail(x: number): number {
  const z = x / Math.SQRT2;
  const t = 1 / (1 + 0.5 * z);
  let power = 0;
  for (const coefficient of coefficients) power = power * t + coefficient;
  return 0.5 * t * Math.exp(-z * z + power);
}
