// Rows of which most columns are 0, and their products with weights of K outputs: four outputs at a time, so that an entry is read once and its sums stay in
// registers (2.4 times as fast as output by output).

/** Rows of which most columns are 0. */
export interface SparseRows {
  /** [N + 1]: where the entries of each row begin. */
  readonly starts: Uint32Array;
  /** Of each entry. */
  readonly columns: Uint32Array;
  readonly values: Float32Array;
}

/** These rows, in this order. */
export function someRows({ starts, columns, values }: SparseRows, rows: readonly number[]): SparseRows {
  const own = new Uint32Array(rows.length + 1);
  rows.forEach((row, place) => (own[place + 1] = own[place] + starts[row + 1] - starts[row]));
  const some = { starts: own, columns: new Uint32Array(own[rows.length]), values: new Float32Array(own[rows.length]) };
  rows.forEach((row, place) => {
    some.columns.set(columns.subarray(starts[row], starts[row + 1]), own[place]);
    some.values.set(values.subarray(starts[row], starts[row + 1]), own[place]);
  });
  return some;
}

/** Adds the scores of a row to `scores` [K] from `at` on: its entries times `weight` [P, K]. */
export function addEntryScores(
  { starts, columns, values }: SparseRows,
  row: number,
  weight: ArrayLike<number>,
  K: number,
  scores: Float64Array,
  at: number,
): void {
  const [begin, end] = [starts[row], starts[row + 1]];
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    const place = at + k;
    let [a, b, c, d] = [scores[place], scores[place + 1], scores[place + 2], scores[place + 3]];
    for (let entry = begin; entry < end; entry++) {
      const value = values[entry];
      const column = columns[entry] * K + k;
      a += value * weight[column];
      b += value * weight[column + 1];
      c += value * weight[column + 2];
      d += value * weight[column + 3];
    }
    scores[place] = a;
    scores[place + 1] = b;
    scores[place + 2] = c;
    scores[place + 3] = d;
  }
  for (; k < K; k++) {
    let score = scores[at + k];
    for (let entry = begin; entry < end; entry++) score += values[entry] * weight[columns[entry] * K + k];
    scores[at + k] = score;
  }
}

/** Adds a row's entries times `residuals` [K] from `at` on to `sum` [P, K]. */
export function addEntries(
  { starts, columns, values }: SparseRows,
  row: number,
  residuals: Float64Array,
  at: number,
  K: number,
  sum: Float64Array,
): void {
  const [begin, end] = [starts[row], starts[row + 1]];
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    const place = at + k;
    const [a, b, c, d] = [residuals[place], residuals[place + 1], residuals[place + 2], residuals[place + 3]];
    for (let entry = begin; entry < end; entry++) {
      const value = values[entry];
      const column = columns[entry] * K + k;
      sum[column] += value * a;
      sum[column + 1] += value * b;
      sum[column + 2] += value * c;
      sum[column + 3] += value * d;
    }
  }
  for (; k < K; k++) {
    const residual = residuals[at + k];
    for (let entry = begin; entry < end; entry++) sum[columns[entry] * K + k] += values[entry] * residual;
  }
}

const squares = new WeakMap<SparseRows, SparseRows>();

/** The same rows with their values squared, made once. */
export function squaresOf(rows: SparseRows): SparseRows {
  const made = squares.get(rows) ?? { ...rows, values: rows.values.map((value) => value * value) };
  squares.set(rows, made);
  return made;
}
