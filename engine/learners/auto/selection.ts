// Greedy ensemble selection (Caruana et al., ICML 2004): again and again the model is added, with replacement, that makes the mean of all
// added so far best on rows that none of them learned from; how often each was taken is its weight. N rows.

/** What one model says of the rows: the probability of what is so (classes), or values (numbers). */
export type Said = Float64Array;

/** The loss of a mean of models. `classes`: mean −log of the probability of what is so; else the mean square. */
export interface Judge {
  readonly kind: 'classes' | 'values';
  /** [N], of numbers. */
  readonly truth: ArrayLike<number>;
  /** Rows that are looked at. */
  readonly rows: Uint32Array;
}

/** Below this no probability counts: one sure mistake may not decide alone. */
export const leastProbability = 1e-7;

/** How many models are added at most. */
const rounds = 40;

export interface Selection {
  /** [models] shares that add up to 1. */
  readonly weights: readonly number[];
  readonly loss: number;
}

/** The loss of each of the judge's rows, of (sum + said) / count. */
export function lossesOf(judge: Judge, sum: Said, said: Said | null, count: number): Float64Array {
  const { kind, truth, rows } = judge;
  const losses = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    const mean = (sum[row] + (said ? said[row] : 0)) / count;
    losses[at] = kind === 'classes' ? -Math.log(Math.max(mean, leastProbability)) : (mean - truth[row]) ** 2;
  }
  return losses;
}

export const meanOf = (values: Float64Array): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** The best ensemble that the rounds come by; of equal ones the smaller, of equal models the first. `models` may not be empty. */
export function selectGreedily(models: readonly Said[], judge: Judge): Selection {
  const counts = new Array<number>(models.length).fill(0);
  const sum = new Float64Array(models[0].length);
  let best: Selection = { weights: [], loss: Infinity };
  for (let size = 1; size <= rounds; size++) {
    const losses = models.map((said) => meanOf(lossesOf(judge, sum, said, size)));
    const taken = losses.reduce((lowest, loss, model) => (loss < losses[lowest] ? model : lowest), 0);
    counts[taken]++;
    for (let row = 0; row < sum.length; row++) sum[row] += models[taken][row];
    if (losses[taken] < best.loss) best = { weights: counts.map((count) => count / size), loss: losses[taken] };
  }
  return best;
}

/** The weighted mean of what models say. */
export function mixed(models: readonly Said[], weights: readonly number[]): Said {
  const sum = new Float64Array(models[0].length);
  models.forEach((said, model) => {
    if (weights[model] === 0) return;
    for (let row = 0; row < sum.length; row++) sum[row] += weights[model] * said[row];
  });
  return sum;
}
