// Logistic and softmax regression: the least Σ s·loss + penalty/2 · |w|² over rows with weights s, intercepts free. Few
// parameters by Newton's method with halved steps (for one logit: iteratively reweighted least squares), many by L-BFGS (Nocedal
// 1980; two loops as in Nocedal & Wright, Numerical Optimization, 7.4). All in float64.

import { factor, solveFactored } from './cholesky.ts';
import { addTransposed, denseRow, entriesOf, scoresOf, type Design } from './design.ts';
import type { Solution } from './ridge.ts';
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
}

interface Point {
  /** W [P, K], then b [K]. */
  readonly parameters: Float64Array;
  /** Divided by the sum of the rows' weights, as is the gradient. */
  readonly value: number;
  readonly gradient: Float64Array;
}

/** Parameters that Newton's method solves for at most. */
const fewParameters = 120;
const mostIterations = 1_000;
const memory = 12;

/** `start`: weights near those that are looked for. */
export function* solveLogistic(problem: LogisticProblem, start: Solution): Work<Solution> {
  const { design, outputs } = problem;
  const first = yield* evaluateAt(problem, joined(start.weight, start.bias));
  const last =
    first.parameters.length <= fewParameters ? yield* newton(problem, first) : yield* descend(problem, first);
  const P = design.width * outputs;
  return { weight: last.parameters.slice(0, P), bias: last.parameters.slice(P) };
}

/** The largest entry of the gradient of the mean loss: 0 at the solution. */
export function* gradientSize(problem: Omit<LogisticProblem, 'tolerance'>, { weight, bias }: Solution): Work<number> {
  return largest((yield* evaluateAt(problem, joined(weight, bias))).gradient);
}

function joined(weight: Float64Array, bias: Float64Array): Float64Array {
  const parameters = new Float64Array(weight.length + bias.length);
  parameters.set(weight);
  parameters.set(bias, weight.length);
  return parameters;
}

// Of texts there are hundreds of thousands of parameters: plain loops are ten times as fast as `reduce` and `map`.
function largest(values: Float64Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]));
  return most;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** a + factor · b */
function plus(a: Float64Array, b: Float64Array, factor: number): Float64Array {
  const sum = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) sum[i] = a[i] + factor * b[i];
  return sum;
}

function weightOfRows({
  design,
  rows,
  classWeights,
}: Pick<LogisticProblem, 'design' | 'rows' | 'classWeights'>): number {
  let sum = 0;
  for (let row = 0; row < rows; row++) sum += classWeights[design.targets[row]];
  return sum;
}

/** Turns the scores of a row into probabilities, in place; returns the loss of `target`. */
function activate(scores: Float64Array, at: number, K: number, target: number): number {
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

function* evaluateAt(problem: Omit<LogisticProblem, 'tolerance'>, parameters: Float64Array): Work<Point> {
  const { design, rows, outputs: K, classWeights, penalty } = problem;
  const P = design.width * K;
  const [weight, bias] = [parameters.subarray(0, P), parameters.subarray(P)];
  const gradient = new Float64Array(parameters.length);
  const block = blockOf(2 * K * (entriesOf(design) + 1));
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
      if (K === 1) scores[at] -= target;
      else scores[at + target] -= 1;
      for (let k = 0; k < K; k++) {
        scores[at + k] *= share;
        gradient[P + k] += scores[at + k];
      }
    }
    addTransposed(design, from, to, scores, K, gradient);
    yield;
  }
  const total = weightOfRows(problem);
  for (let i = 0; i < P; i++) {
    value += (penalty / 2) * parameters[i] ** 2;
    gradient[i] += penalty * parameters[i];
  }
  for (let i = 0; i < gradient.length; i++) gradient[i] /= total;
  return { parameters, value: value / total, gradient };
}

function* newton(problem: LogisticProblem, start: Point): Work<Point> {
  let point = start;
  const M = start.parameters.length;
  for (let iteration = 0; iteration < mostIterations && largest(point.gradient) > problem.tolerance; iteration++) {
    const hessian = yield* curvature(problem, point.parameters);
    // Intercepts of all classes may grow together: a little on the diagonal decides for where they are.
    yield* factor(hessian, M, 1e-10);
    const step = point.gradient.map((value) => -value);
    solveFactored(hessian, M, step);
    const next = yield* along(problem, point, step, 1);
    if (next === null) break;
    point = next;
  }
  return point;
}

/** The Hessian of the mean loss, lower triangle [M, M]. */
function* curvature(problem: LogisticProblem, parameters: Float64Array): Work<Float64Array> {
  const { design, rows, outputs: K, classWeights, penalty } = problem;
  const { width } = design;
  const M = parameters.length;
  const [weight, bias] = [parameters.subarray(0, width * K), parameters.subarray(width * K)];
  const hessian = new Float64Array(M * M);
  const row = new Float64Array(width + 1);
  const scores = new Float64Array(K);
  const total = weightOfRows(problem);
  const block = blockOf((M * M) / 2);
  for (let index = 0; index < rows; index++) {
    scoresOf(design, index, index + 1, weight, bias, scores);
    activate(scores, 0, K, design.targets[index]);
    denseRow(design, index, row);
    const share = classWeights[design.targets[index]] / total;
    for (let i = 0; i <= width; i++) {
      if (row[i] === 0) continue;
      for (let j = 0; j <= i; j++) {
        const product = share * row[i] * row[j];
        if (product === 0) continue;
        for (let a = 0; a < K; a++) {
          for (let b = 0; b < K; b++) {
            const both = K === 1 ? scores[0] * (1 - scores[0]) : scores[a] * ((a === b ? 1 : 0) - scores[b]);
            hessian[(i * K + a) * M + j * K + b] += product * both;
          }
        }
      }
    }
    if (index % block === block - 1) yield;
  }
  for (let i = 0; i < width * K; i++) hessian[i * M + i] += penalty / total;
  return hessian;
}

/** The first point on the way that is enough lower (Armijo), halving the step; null: there is none. */
function* along(problem: LogisticProblem, point: Point, step: Float64Array, length: number): Work<Point | null> {
  const slope = dot(point.gradient, step);
  if (!(slope < 0)) return null;
  for (let tries = 0; tries < 40; tries++, length /= 2) {
    const parameters = plus(point.parameters, step, length);
    const next = yield* evaluateAt(problem, parameters);
    if (next.value <= point.value + 1e-4 * length * slope) return next;
    // So near the bottom rounding hides the descent: the gradient tells.
    if (Math.abs(next.value - point.value) <= 1e-14 * Math.abs(point.value)) {
      return largest(next.gradient) < largest(point.gradient) ? next : null;
    }
  }
  return null;
}

function* descend(problem: LogisticProblem, start: Point): Work<Point> {
  let point = start;
  const steps: Float64Array[] = [];
  const turns: Float64Array[] = [];
  for (let iteration = 0; iteration < mostIterations && largest(point.gradient) > problem.tolerance; iteration++) {
    const direction = towards(point.gradient, steps, turns);
    const first = steps.length === 0 ? Math.min(1, 1 / largest(point.gradient)) : 1;
    const next = yield* along(problem, point, direction, first);
    if (next === null) {
      if (steps.length === 0) break;
      steps.length = turns.length = 0;
      continue;
    }
    const step = plus(next.parameters, point.parameters, -1);
    const turn = plus(next.gradient, point.gradient, -1);
    if (dot(step, turn) > 1e-12 * dot(turn, turn)) {
      steps.push(step);
      turns.push(turn);
      if (steps.length > memory) [steps, turns].forEach((list) => list.shift());
    }
    point = next;
  }
  return point;
}

/** Minus the gradient times what the last steps tell of the inverse Hessian. */
function towards(gradient: Float64Array, steps: readonly Float64Array[], turns: readonly Float64Array[]): Float64Array {
  const direction = gradient.map((value) => -value);
  const shares = new Float64Array(steps.length);
  for (let i = steps.length - 1; i >= 0; i--) {
    shares[i] = dot(steps[i], direction) / dot(steps[i], turns[i]);
    for (let j = 0; j < direction.length; j++) direction[j] -= shares[i] * turns[i][j];
  }
  const last = steps.length - 1;
  if (last >= 0) {
    const scale = dot(steps[last], turns[last]) / dot(turns[last], turns[last]);
    for (let j = 0; j < direction.length; j++) direction[j] *= scale;
  }
  for (let i = 0; i < steps.length; i++) {
    const back = shares[i] - dot(turns[i], direction) / dot(steps[i], turns[i]);
    for (let j = 0; j < direction.length; j++) direction[j] += back * steps[i][j];
  }
  return direction;
}
