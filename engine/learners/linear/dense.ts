// Products of dense rows with weights of K outputs: four outputs at a time, so that their sums stay in registers, in the order in which
// one output after the other would add them.

/** Adds the scores of a row of `dense` values at x[place] to `scores` [K] from `at` on: its values times `weight` [dense, K]. */
export function addDenseScores(
  x: Float32Array,
  place: number,
  dense: number,
  weight: ArrayLike<number>,
  K: number,
  scores: Float64Array,
  at: number,
): void {
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    const own = at + k;
    let a = scores[own];
    let b = scores[own + 1];
    let c = scores[own + 2];
    let d = scores[own + 3];
    for (let i = 0, column = k; i < dense; i++, column += K) {
      const value = x[place + i];
      a += value * weight[column];
      b += value * weight[column + 1];
      c += value * weight[column + 2];
      d += value * weight[column + 3];
    }
    scores[own] = a;
    scores[own + 1] = b;
    scores[own + 2] = c;
    scores[own + 3] = d;
  }
  for (; k < K; k++) {
    let score = scores[at + k];
    for (let i = 0, column = k; i < dense; i++, column += K) score += x[place + i] * weight[column];
    scores[at + k] = score;
  }
}

/** Residuals that are read again for each column: a part of the first-level cache. */
const residualsAtOnce = 2048;

/** Adds Xᵀ·R to `sum` [dense, K]: X are `rows` rows of `dense` values from x[first] on, R [rows, K] stands in `residuals`. */
export function addDenseTransposed(
  x: Float32Array,
  first: number,
  rows: number,
  dense: number,
  residuals: Float64Array,
  K: number,
  sum: Float64Array,
): void {
  const together = Math.max(1, Math.floor(residualsAtOnce / K));
  for (let from = 0; from < rows; from += together) {
    const to = Math.min(rows, from + together);
    for (let i = 0; i < dense; i++) addColumn(x, first + i, dense, from, to, residuals, K, sum, i * K);
  }
}

/** Adds one column of rows [from, to) times their residuals to `sum` [K] from `at` on. */
function addColumn(
  x: Float32Array,
  first: number,
  dense: number,
  from: number,
  to: number,
  residuals: Float64Array,
  K: number,
  sum: Float64Array,
  at: number,
): void {
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    const own = at + k;
    let a = sum[own];
    let b = sum[own + 1];
    let c = sum[own + 2];
    let d = sum[own + 3];
    for (
      let row = from, place = first + from * dense, next = from * K + k;
      row < to;
      row++, place += dense, next += K
    ) {
      const value = x[place];
      a += value * residuals[next];
      b += value * residuals[next + 1];
      c += value * residuals[next + 2];
      d += value * residuals[next + 3];
    }
    sum[own] = a;
    sum[own + 1] = b;
    sum[own + 2] = c;
    sum[own + 3] = d;
  }
  for (; k < K; k++) {
    let total = sum[at + k];
    for (let row = from; row < to; row++) total += x[first + row * dense] * residuals[row * K + k];
    sum[at + k] = total;
  }
}
