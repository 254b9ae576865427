// Logistic and softmax regression as a function of its weights: Σ s·loss + penalty/2 · |w|² over rows with weights s, intercepts free,
// its gradient, and the search along a step. All in float64.

import { addTransposed, entriesOf, scoresOf, type Design } from './design.ts';
import { blockOf, type Work } from './work.ts';

export interface LogisticProblem {
  readonly design: Design;
  /** Rows [0, rows) with class numbers below `classes` as targets. */
  readonly rows: number;
  /** K: 1 for two classes (the logit of the second), else one a class. */
  readonly outputs: number;
  /** Weight of each class in the loss. */
  readonly classWeights: ArrayLike<number>;
  readonly penalty: number;
  /** Largest entry of the gradient of the mean loss at the end. */
  readonly tolerance: number;
  /** A step that gains less than this share of the loss is the last one, where the gradient has not been small enough before; absent: 0. */
  readonly leastGain?: number;
}

export interface Point {
  /** W [P, K], then b [K]. */
  readonly parameters: Float64Array;
  /** Divided by the sum of the rows' weights, as is the gradient. */
  readonly value: number;
  readonly gradient: Float64Array;
}

// Of texts there are hundreds of thousands of parameters: plain loops are ten times as fast as `reduce` and `map`.
export function largest(values: Float64Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]));
  return most;
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Writes a + factor · b. */
function writeSum(sum: Float64Array, a: Float64Array, b: Float64Array, factor: number): void {
  for (let i = 0; i < a.length; i++) sum[i] = a[i] + factor * b[i];
}

export function weightOfRows({
  design,
  rows,
  classWeights,
}: Pick<LogisticProblem, 'design' | 'rows' | 'classWeights'>): number {
  let sum = 0;
  for (let row = 0; row < rows; row++) sum += classWeights[design.targets[row]];
  return sum;
}

/** Turns the scores of a row into probabilities, in place; returns the loss of `target`. */
export function activate(scores: Float64Array, at: number, K: number, target: number): number {
  if (K === 1) {
    const z = scores[at];
    scores[at] = 1 / (1 + Math.exp(-z));
    return Math.max(z, 0) - z * target + Math.log1p(Math.exp(-Math.abs(z)));
  }
  let maximum = -Infinity;
  for (let k = 0; k < K; k++) maximum = Math.max(maximum, scores[at + k]);
  const own = scores[at + target];
  let sum = 0;
  for (let k = 0; k < K; k++) sum += scores[at + k] = Math.exp(scores[at + k] - maximum);
  for (let k = 0; k < K; k++) scores[at + k] /= sum;
  return maximum + Math.log(sum) - own;
}

/** The loss and its gradient, written to `gradient`; `probabilities` [rows, K], if there is room for them, are written too. */
export function* evaluateAt(
  problem: Omit<LogisticProblem, 'tolerance'>,
  parameters: Float64Array,
  probabilities?: Float32Array,
  gradient: Float64Array = new Float64Array(parameters.length),
): Work<Point> {
  const { design, rows, outputs: K, classWeights, penalty } = problem;
  const P = design.width * K;
  const [weight, bias] = [parameters.subarray(0, P), parameters.subarray(P)];
  gradient.fill(0);
  const each = 2 * K * (entriesOf(design) + 1);
  const block = blockOf(each, K);
  const scores = new Float64Array(block * K);
  let value = 0;
  for (let from = 0; from < rows; from += block) {
    const to = Math.min(rows, from + block);
    scoresOf(design, from, to, weight, bias, scores);
    for (let row = from; row < to; row++) {
      const at = (row - from) * K;
      const target = design.targets[row];
      const share = classWeights[target];
      value += share * activate(scores, at, K, target);
      if (probabilities) for (let k = 0; k < K; k++) probabilities[row * K + k] = scores[at + k];
      if (K === 1) scores[at] -= target;
      else scores[at + target] -= 1;
      for (let k = 0; k < K; k++) {
        scores[at + k] *= share;
        gradient[P + k] += scores[at + k];
      }
    }
    addTransposed(design, from, to, scores, K, gradient);
    yield (to - from) * each;
  }
  const total = weightOfRows(problem);
  for (let i = 0; i < P; i++) {
    value += (penalty / 2) * parameters[i] ** 2;
    gradient[i] += penalty * parameters[i];
  }
  for (let i = 0; i < gradient.length; i++) gradient[i] /= total;
  return { parameters, value: value / total, gradient };
}

/**
 * The first point on the way that is enough lower (Armijo), halving the step; null: there is none. `probabilities` as of `evaluateAt`.
 * `spare`: arrays of a point that is not needed any more; the next one is written over them.
 */
export function* along(
  problem: LogisticProblem,
  point: Point,
  step: Float64Array,
  probabilities?: Float32Array,
  { parameters, gradient }: Pick<Point, 'parameters' | 'gradient'> = {
    parameters: new Float64Array(step.length),
    gradient: new Float64Array(step.length),
  },
): Work<Point | null> {
  const slope = dot(point.gradient, step);
  if (!(slope < 0)) return null;
  for (let tries = 0, length = 1; tries < 40; tries++, length /= 2) {
    writeSum(parameters, point.parameters, step, length);
    const next = yield* evaluateAt(problem, parameters, probabilities, gradient);
    if (next.value <= point.value + 1e-4 * length * slope) return next;
    // So near the bottom rounding hides the descent: the gradient tells.
    if (Math.abs(next.value - point.value) <= 1e-14 * Math.abs(point.value)) {
      return largest(next.gradient) < largest(point.gradient) ? next : null;
    }
  }
  return null;
}
