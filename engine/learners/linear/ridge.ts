// Ridge regression (Hoerl & Kennard 1970): the least sum of squared errors plus penalty · |w|², the intercept free. The columns
// are centred, then either the P × P or, where there are fewer rows than columns, the N × N system is solved by Cholesky; if
// both are too large, conjugate gradients (Hestenes & Stiefel 1952) work on the rows themselves.

import { factor, inverseTrace, solveFactored } from './cholesky.ts';
import { addTransposed, denseRow, entriesOf, scoresOf, type Design } from './design.ts';
import { blockOf, type Work } from './work.ts';

export interface Solution {
  /** [P, K] */
  readonly weight: Float64Array;
  /** [K] */
  readonly bias: Float64Array;
}

/** Fits rows [0, rows) of a design to their targets. */
export interface RidgeSolver {
  /** Whether `solve` also knows how well the penalty generalizes. */
  readonly direct: boolean;
  solve(penalty: number, start?: Solution): Work<Solution>;
  /** Generalized cross-validation (Golub, Heath & Wahba 1979) of the penalty last solved, of a direct solver. */
  generalization(penalty: number, solution: Solution): Work<number>;
}

/** Rows and columns of a system that is solved directly, and multiplications to make it, at most. */
const largestSystem = 1_500;
const mostMultiplications = 2e9;

export function* ridgeSolver(design: Design, rows: number): Work<RidgeSolver> {
  const means = yield* columnMeans(design, rows);
  let mean = 0;
  for (let row = 0; row < rows; row++) mean += design.targets[row] / rows;
  const M = Math.min(rows, design.width);
  const affordable = M <= largestSystem && rows * design.width * M <= mostMultiplications;
  if (!affordable) return iterative(design, rows, means, mean);
  return design.width <= rows ? yield* primal(design, rows, means, mean) : yield* dual(design, rows, means, mean);
}

function* columnMeans(design: Design, rows: number): Work<Float64Array> {
  const means = new Float64Array(design.width);
  const each = entriesOf(design);
  const ones = new Float64Array(blockOf(each)).fill(1);
  for (let from = 0; from < rows; from += ones.length) {
    const to = Math.min(rows, from + ones.length);
    addTransposed(design, from, to, ones, 1, means);
    yield (to - from) * each;
  }
  for (let i = 0; i < means.length; i++) means[i] /= rows;
  return means;
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

function withBias(weight: Float64Array, means: Float64Array, mean: number): Solution {
  return { weight, bias: Float64Array.of(mean - dot(weight, means)) };
}

function* primal(design: Design, rows: number, means: Float64Array, mean: number): Work<RidgeSolver> {
  const P = design.width;
  const gram = new Float64Array(P * P);
  const right = new Float64Array(P);
  const row = new Float64Array(P);
  const each = (P * P) / 2;
  const block = blockOf(each);
  for (let index = 0; index < rows; index++) {
    denseRow(design, index, row);
    for (let i = 0; i < P; i++) row[i] -= means[i];
    const target = design.targets[index] - mean;
    for (let i = 0; i < P; i++) {
      const value = row[i];
      right[i] += value * target;
      if (value !== 0) for (let j = 0, place = i * P; j <= i; j++, place++) gram[place] += value * row[j];
    }
    if (index % block === block - 1) yield block * each;
  }
  yield (rows % block) * each;
  let factored = gram;
  return {
    direct: true,
    *solve(penalty) {
      factored = gram.slice();
      yield* factor(factored, P, penalty);
      const weight = right.slice();
      solveFactored(factored, P, weight);
      return withBias(weight, means, mean);
    },
    *generalization(penalty, solution) {
      const trace = yield* inverseTrace(factored, P);
      return crossValidation(yield* squaresOf(design, rows, solution), rows, P - penalty * trace);
    },
  };
}

/** With a = (X·Xᵀ + penalty)⁻¹·y the weights are Xᵀ·a. */
function* dual(design: Design, rows: number, means: Float64Array, mean: number): Work<RidgeSolver> {
  const { width } = design;
  const centred = new Float64Array(rows * width);
  for (let index = 0; index < rows; index++) {
    const row = centred.subarray(index * width, (index + 1) * width);
    denseRow(design, index, row);
    for (let i = 0; i < width; i++) row[i] -= means[i];
  }
  const kernel = new Float64Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    const first = centred.subarray(i * width, (i + 1) * width);
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let c = 0, place = j * width; c < width; c++, place++) sum += first[c] * centred[place];
      kernel[i * rows + j] = sum;
    }
    yield (i + 1) * width;
  }
  let factored = kernel;
  return {
    direct: true,
    *solve(penalty) {
      factored = kernel.slice();
      yield* factor(factored, rows, penalty);
      const shares = Float64Array.from({ length: rows }, (_, index) => design.targets[index] - mean);
      solveFactored(factored, rows, shares);
      const weight = new Float64Array(width);
      for (let index = 0; index < rows; index++) {
        for (let i = 0; i < width; i++) weight[i] += shares[index] * centred[index * width + i];
      }
      return withBias(weight, means, mean);
    },
    *generalization(penalty, solution) {
      const trace = yield* inverseTrace(factored, rows);
      return crossValidation(yield* squaresOf(design, rows, solution), rows, rows - penalty * trace);
    },
  };
}

function crossValidation(squares: number, rows: number, freedom: number): number {
  // One more for the intercept.
  const left = Math.max(1e-9, 1 - (freedom + 1) / rows);
  return squares / rows / left ** 2;
}

/** The sum of squared errors. */
function* squaresOf(design: Design, rows: number, { weight, bias }: Solution): Work<number> {
  const each = entriesOf(design);
  const scores = new Float64Array(blockOf(each));
  let squares = 0;
  for (let from = 0; from < rows; from += scores.length) {
    const to = Math.min(rows, from + scores.length);
    scoresOf(design, from, to, weight, bias, scores);
    for (let row = from; row < to; row++) squares += (scores[row - from] - design.targets[row]) ** 2;
    yield (to - from) * each;
  }
  return squares;
}

/** The residual of the system is this share of its right side, at most. */
const closeEnough = 1e-10;
const mostIterations = 1_000;

function iterative(design: Design, rows: number, means: Float64Array, mean: number): RidgeSolver {
  const P = design.width;
  const each = 2 * entriesOf(design);
  const block = blockOf(each);
  const scores = new Float64Array(block);

  /** Centred Xᵀ(X·v) + penalty · v; with targets −Xᵀ(y − ȳ) too. */
  function* applied(vector: Float64Array, penalty: number): Work<Float64Array> {
    const result = new Float64Array(P);
    const shift = Float64Array.of(-dot(vector, means));
    for (let from = 0; from < rows; from += block) {
      const to = Math.min(rows, from + block);
      scoresOf(design, from, to, vector, shift, scores);
      addTransposed(design, from, to, scores, 1, result);
      yield (to - from) * each;
    }
    for (let i = 0; i < P; i++) result[i] += penalty * vector[i];
    return result;
  }

  function* rightSide(): Work<Float64Array> {
    const result = new Float64Array(P);
    for (let from = 0; from < rows; from += block) {
      const to = Math.min(rows, from + block);
      for (let row = from; row < to; row++) scores[row - from] = design.targets[row] - mean;
      addTransposed(design, from, to, scores, 1, result);
      yield (to - from) * each;
    }
    return result;
  }

  return {
    direct: false,
    *solve(penalty, start) {
      const right = yield* rightSide();
      const weight = start ? start.weight.slice() : new Float64Array(P);
      const product = yield* applied(weight, penalty);
      const residual = right.map((value, i) => value - product[i]);
      let direction = residual.slice();
      let size = dot(residual, residual);
      const enough = closeEnough ** 2 * dot(right, right);
      for (let iteration = 0; iteration < mostIterations && size > enough; iteration++) {
        const turned = yield* applied(direction, penalty);
        const step = size / dot(direction, turned);
        for (let i = 0; i < P; i++) {
          weight[i] += step * direction[i];
          residual[i] -= step * turned[i];
        }
        const before = size;
        size = dot(residual, residual);
        direction = direction.map((value, i) => residual[i] + (size / before) * value);
      }
      return withBias(weight, means, mean);
    },
    *generalization() {
      throw new RangeError('only a direct solver knows the trace of its system');
    },
  };
}
