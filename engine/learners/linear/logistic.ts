// Logistic and softmax regression: the least Σ s·loss + penalty/2 · |w|² over rows with weights s, intercepts free. Few
// parameters by Newton's method with halved steps (for one logit: iteratively reweighted least squares), many by its truncated
// form. All in float64.

import { factor, solveFactored } from './cholesky.ts';
import { denseRow, scoresOf } from './design.ts';
import { activate, along, evaluateAt, largest, weightOfRows, type LogisticProblem } from './logistic-loss.ts';
import type { Solution } from './ridge.ts';
import { truncatedNewton } from './truncated-newton.ts';
import { blockOf, type Work } from './work.ts';

/** Parameters that Newton's method solves for at most. */
const fewParameters = 120;
const mostIterations = 1_000;

/** `start`: weights near those that are looked for. */
export function* solveLogistic(problem: LogisticProblem, start: Solution): Work<Solution> {
  const { design, outputs } = problem;
  const first = joined(start.weight, start.bias);
  const last = first.length <= fewParameters ? yield* newton(problem, first) : yield* truncatedNewton(problem, first);
  const P = design.width * outputs;
  return { weight: last.slice(0, P), bias: last.slice(P) };
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

function* newton(problem: LogisticProblem, start: Float64Array): Work<Float64Array> {
  const M = start.length;
  let point = yield* evaluateAt(problem, start);
  for (let iteration = 0; iteration < mostIterations && largest(point.gradient) > problem.tolerance; iteration++) {
    const hessian = yield* curvature(problem, point.parameters);
    // Intercepts of all classes may grow together: a little on the diagonal decides for where they are.
    yield* factor(hessian, M, 1e-10);
    const step = point.gradient.map((value) => -value);
    solveFactored(hessian, M, step);
    const next = yield* along(problem, point, step);
    if (next === null) break;
    const gain = point.value - next.value;
    point = next;
    if (gain < (problem.leastGain ?? 0) * point.value) break;
  }
  return point.parameters;
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
  const each = (M * M) / 2;
  const block = blockOf(each);
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
    if (index % block === block - 1) yield block * each;
  }
  yield (rows % block) * each;
  for (let i = 0; i < width * K; i++) hessian[i * M + i] += penalty / total;
  return hessian;
}
