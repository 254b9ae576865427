// Newton's method for many parameters (truncated: Dembo & Steihaug 1983; for logistic regression Lin, Weng & Keerthi 2008): each step solves
// the system of the Hessian roughly, by conjugate gradients that need its product with a vector alone, two products with the rows. Divided by
// the Hessian's diagonal, so that rare and common words, numbers and categories are alike. It ends quadratically and holds ten times the
// parameters, where L-BFGS with twelve steps held thirty times. N rows, P columns, K outputs.

import { addSquares, addTransposed, entriesOf, scoresOf } from './design.ts';
import { along, dot, evaluateAt, largest, weightOfRows, type LogisticProblem, type Point } from './logistic-loss.ts';
import { blockOf, type Work } from './work.ts';

const mostSteps = 200;
const mostTurns = 250;
/** What may be left of a system's right side, in the norm of its diagonal. */
const leastLeft = 0.3;
/** A turn that gains less than this share of what a step has to gain is its last one. */
const turnShare = 0.03;

/** What every step works in, each [P + 1, K]: made anew for each, they would lie about until they are collected. */
interface Workspace {
  readonly diagonal: Float64Array;
  readonly step: Float64Array;
  readonly residual: Float64Array;
  readonly direction: Float64Array;
  readonly turned: Float64Array;
}

/** The parameters [P + 1, K] of the least loss, from `start` on. */
export function* truncatedNewton(problem: LogisticProblem, start: Float64Array): Work<Float64Array> {
  const { rows, outputs, tolerance, leastGain = 0 } = problem;
  const probabilities = new Float32Array(rows * outputs);
  const vector = (): Float64Array => new Float64Array(start.length);
  const [diagonal, step, residual, direction, turned] = [vector(), vector(), vector(), vector(), vector()];
  const workspace = { diagonal, step, residual, direction, turned };
  let spare: Pick<Point, 'parameters' | 'gradient'> = { parameters: vector(), gradient: vector() };
  let point = yield* evaluateAt(problem, start.slice(), probabilities);
  const first = largest(point.gradient);
  for (let taken = 0; taken < mostSteps; taken++) {
    const size = largest(point.gradient);
    if (size <= tolerance) break;
    // Near the end a closer solution pays: the last steps are as good as Newton's own.
    const left = Math.min(leastLeft, Math.sqrt(size / first));
    yield* newtonStep(problem, point, probabilities, left, workspace);
    const next = yield* along(problem, point, step, probabilities, spare);
    if (next === null) break;
    const gain = point.value - next.value;
    [spare, point] = [point, next];
    if (gain < leastGain * point.value) break;
  }
  return point.parameters;
}

/** Minus the inverse of the mean loss's Hessian times its gradient, until `left` of it is left: the workspace's `step`. */
function* newtonStep(
  problem: LogisticProblem,
  { gradient, value }: Point,
  probabilities: Float32Array,
  left: number,
  { diagonal, step, residual, direction, turned }: Workspace,
): Work<void> {
  const size = gradient.length;
  yield* writeDiagonal(problem, probabilities, diagonal);
  step.fill(0);
  let norm = 0;
  for (let i = 0; i < size; i++) {
    residual[i] = -gradient[i];
    direction[i] = residual[i] / diagonal[i];
    norm += residual[i] * direction[i];
  }
  const enough = left ** 2 * norm;
  const leastOfTurn = turnShare * (problem.leastGain ?? 0) * value;
  for (let turn = 0; turn < mostTurns; turn++) {
    yield* applyHessian(problem, probabilities, direction, turned);
    const curvature = dot(direction, turned);
    if (!(curvature > 0)) break;
    const length = norm / curvature;
    const before = norm;
    norm = 0;
    for (let i = 0; i < size; i++) {
      step[i] += length * direction[i];
      residual[i] -= length * turned[i];
      norm += residual[i] ** 2 / diagonal[i];
    }
    if (norm <= enough || (length * before) / 2 < leastOfTurn) break;
    for (let i = 0; i < size; i++) direction[i] = residual[i] / diagonal[i] + (norm / before) * direction[i];
  }
}

/** Writes the diagonal of the Hessian [P + 1, K], nowhere 0. */
function* writeDiagonal(problem: LogisticProblem, probabilities: Float32Array, diagonal: Float64Array): Work<void> {
  const { design, rows, outputs: K, classWeights, penalty } = problem;
  const P = design.width * K;
  diagonal.fill(0);
  const each = K * (entriesOf(design) + 1);
  const block = blockOf(each, K);
  const curvatures = new Float64Array(block * K);
  for (let from = 0; from < rows; from += block) {
    const to = Math.min(rows, from + block);
    for (let row = from; row < to; row++) {
      const share = classWeights[design.targets[row]];
      for (let k = 0; k < K; k++) {
        const p = probabilities[row * K + k];
        diagonal[P + k] += curvatures[(row - from) * K + k] = share * p * (1 - p);
      }
    }
    addSquares(design, from, to, curvatures, K, diagonal);
    yield (to - from) * each;
  }
  const total = weightOfRows(problem);
  for (let i = 0; i < P; i++) diagonal[i] = (diagonal[i] + penalty) / total;
  // Of a class that every row is sure of nothing is left.
  for (let k = 0; k < K; k++) diagonal[P + k] = diagonal[P + k] / total + 1e-10;
}

/** Writes the Hessian of the mean loss times `vector`, both [P + 1, K]. */
function* applyHessian(
  problem: LogisticProblem,
  probabilities: Float32Array,
  vector: Float64Array,
  product: Float64Array,
): Work<void> {
  const { design, rows, outputs: K, classWeights, penalty } = problem;
  const P = design.width * K;
  const [weight, bias] = [vector.subarray(0, P), vector.subarray(P)];
  const each = 2 * K * (entriesOf(design) + 1);
  const block = blockOf(each, K);
  const turned = new Float64Array(block * K);
  product.fill(0);
  for (let from = 0; from < rows; from += block) {
    const to = Math.min(rows, from + block);
    scoresOf(design, from, to, weight, bias, turned);
    for (let row = from; row < to; row++) {
      const [at, own] = [(row - from) * K, row * K];
      const share = classWeights[design.targets[row]];
      let mean = 0;
      for (let k = 0; k < K; k++) mean += probabilities[own + k] * turned[at + k];
      // Of one logit: p (1 − p) t, since the other class's score stands still.
      for (let k = 0; k < K; k++) {
        turned[at + k] = share * probabilities[own + k] * (turned[at + k] - mean);
        product[P + k] += turned[at + k];
      }
    }
    addTransposed(design, from, to, turned, K, product);
    yield (to - from) * each;
  }
  const total = weightOfRows(problem);
  for (let i = 0; i < P; i++) product[i] = (product[i] + penalty * vector[i]) / total;
  for (let k = 0; k < K; k++) product[P + k] /= total;
}
