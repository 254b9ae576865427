// Symmetric positive definite systems by Cholesky's factors (Golub & Van Loan, Matrix Computations, 4.2), in float64. M rows.

import { blockOf, type Work } from './work.ts';

/**
 * The lower factor L of A + ridge · I in place, A = L·Lᵀ; `matrix` [M, M] has A in its lower triangle. A pivot that rounding has
 * left without a sign counts as `ridge`, so that columns which depend on others do no harm.
 */
export function* factor(matrix: Float64Array, M: number, ridge: number): Work<void> {
  let done = 0;
  for (let row = 0; row < M; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row * M + column];
      if (row === column) sum += ridge;
      for (let i = 0, a = row * M, b = column * M; i < column; i++, a++, b++) sum -= matrix[a] * matrix[b];
      if (row === column) matrix[row * M + row] = Math.sqrt(sum > 0 ? sum : Math.max(ridge, Number.MIN_VALUE));
      else matrix[row * M + column] = sum / matrix[column * M + column];
    }
    done += (row * row) / 2;
    if (done > blockOf(1)) {
      yield done;
      done = 0;
    }
  }
  yield done;
}

/** Solves L·Lᵀ·x = b; x replaces `vector` [M]. */
export function solveFactored(matrix: Float64Array, M: number, vector: Float64Array): void {
  for (let row = 0; row < M; row++) {
    let sum = vector[row];
    for (let i = 0; i < row; i++) sum -= matrix[row * M + i] * vector[i];
    vector[row] = sum / matrix[row * M + row];
  }
  for (let row = M - 1; row >= 0; row--) {
    const value = vector[row] / matrix[row * M + row];
    vector[row] = value;
    for (let i = 0; i < row; i++) vector[i] -= matrix[row * M + i] * value;
  }
}

/** Trace of (L·Lᵀ)⁻¹: the sum of squares of L⁻¹, column by column. */
export function* inverseTrace(matrix: Float64Array, M: number): Work<number> {
  const column = new Float64Array(M);
  let [trace, done] = [0, 0];
  for (let start = 0; start < M; start++) {
    column.fill(0);
    column[start] = 1;
    for (let row = start; row < M; row++) {
      let sum = column[row];
      for (let i = start; i < row; i++) sum -= matrix[row * M + i] * column[i];
      column[row] = sum / matrix[row * M + row];
      trace += column[row] ** 2;
    }
    done += (M - start) ** 2 / 2;
    if (done > blockOf(1)) {
      yield done;
      done = 0;
    }
  }
  yield done;
  return trace;
}
