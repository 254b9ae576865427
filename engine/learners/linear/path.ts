// Which penalty: one after another is tried where the last ones say that it may be better, and the one with the least loss on
// rows that were not fitted is kept. Those are the validation rows; without any, numbers go by generalized cross-validation or,
// like classes, by every fifth training row. Every solution starts from the best so far as it is kept, in float32, so that a
// resumed search is the same search.

import type { OutputSpec } from '../../model/spec.ts';
import { outputsOf } from './declaration.ts';
import { entriesOf, scoresOf, type Design } from './design.ts';
import type { LogisticProblem } from './logistic-loss.ts';
import { solveLogistic } from './logistic.ts';
import { ridgeSolver, type RidgeSolver, type Solution } from './ridge.ts';
import { someRows } from './sparse.ts';
import { blockOf, type Work } from './work.ts';

/** W [P, K] and b [K]. */
export interface LinearWeights {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

export interface Tried {
  /** In half powers of ten; null: the penalty was given. */
  readonly exponent: number | null;
  readonly loss: number;
}

/** What the search knows; it is what a checkpoint keeps. */
export interface Search {
  tried: readonly Tried[];
  best: LinearWeights;
  /** Position in `tried` of what `best` was fitted with; −1: it is the constant answer. */
  chosen: number;
}

export interface PathProblem {
  readonly design: Design;
  /** Rows of the training split, which stand first, and of the validation split behind them. */
  readonly train: number;
  readonly validation: number;
  readonly output: OutputSpec;
  /** Weights of the classes in the loss. */
  readonly classWeights: ArrayLike<number> | null;
  /** 0 = find it. */
  readonly penalty: number;
}

const [lowest, highest] = [-6, 12];
/** Largest entry of the gradient of the mean loss of what is kept. */
const closely = 1e-6;
/**
 * While penalties are compared a step that gains less is the last one. It is a share of the loss, and every penalty has a step at least: of a weak penalty
 * the gradient is small wherever it starts, and where that alone counted one was told to be as good as the one before it.
 */
const leastGain = 1e-3;
export const penaltyOf = ({ exponent }: Pick<Tried, 'exponent'>, given: number): number =>
  exponent === null ? given : 10 ** (exponent / 2);

/** The exponent to try next, or null when the search is over. */
export function nextExponent(tried: readonly Tried[]): number | null {
  if (tried.length === 0) return 0;
  const best = tried.reduce((least, one) => (one.loss < least.loss ? one : least)).exponent ?? 0;
  const untried = (exponent: number): boolean =>
    exponent >= lowest && exponent <= highest && !tried.some((one) => one.exponent === exponent);
  // Half a power is the end of it.
  return best % 2 === 0 ? ([best + 2, best - 2, best + 1, best - 1].find(untried) ?? null) : null;
}

/** The answer that is the same for every row: what a search begins with. */
export function constantWeights({ design, train, output, classWeights }: PathProblem): LinearWeights {
  const K = outputsOf(output);
  const weight = new Float32Array(design.width * K);
  if (output.kind === 'value') {
    let mean = 0;
    for (let row = 0; row < train; row++) mean += design.targets[row] / train;
    return { weight, bias: Float32Array.of(mean) };
  }
  const logits = countClasses(design, train, output.classes.length).map((count, k) =>
    Math.log(Math.max(count, 0.5) * (classWeights?.[k] || 1)),
  );
  return { weight, bias: Float32Array.from(K === 1 ? [logits[1] - logits[0]] : logits) };
}

/** Searches on; `search` is brought up to date after every penalty. */
export function* searchPenalty(problem: PathProblem, search: Search): Work<void> {
  const { penalty, design, train, validation, output } = problem;
  const regression = output.kind === 'value';
  const whole = regression ? yield* ridgeSolver(design, train) : null;
  if (penalty > 0) {
    if (search.tried.length > 0) return;
    const best = yield* solve({ ...problem, design, rows: train }, penalty, search.best, whole);
    keep(search, { exponent: null, loss: yield* lossOf(problem, design, 0, train, best) }, best);
    return;
  }
  const crossValidated = validation === 0 && whole?.direct === true;
  const held = validation === 0 && !crossValidated ? setAside(design, train) : null;
  const [rows, fitted] = held ? [held.design, held.fitted] : [design, train];
  const unseen = held ? [held.fitted, train] : [train, train + validation];
  const solver = held && regression ? yield* ridgeSolver(rows, fitted) : whole;
  for (;;) {
    const exponent = nextExponent(search.tried);
    if (exponent === null) break;
    const value = 10 ** (exponent / 2);
    const found = yield* solve({ ...problem, design: rows, rows: fitted, leastGain }, value, search.best, solver);
    const loss =
      crossValidated && whole
        ? yield* whole.generalization(value, widened(found))
        : yield* lossOf(problem, rows, unseen[0], unseen[1], found);
    keep(search, { exponent, loss }, found);
  }
  if (search.chosen < 0) return;
  // Of all training rows and to the end: numbers are solved exactly in any case.
  if (held === null && regression) return;
  const chosen = penaltyOf(search.tried[search.chosen], penalty);
  search.best = yield* solve({ ...problem, rows: train }, chosen, search.best, whole);
}

function keep(search: Search, tried: Tried, found: LinearWeights): void {
  const before = search.tried[search.chosen];
  const better = Number.isFinite(tried.loss) && (before === undefined || tried.loss < before.loss);
  search.tried = [...search.tried, { ...tried, loss: Number.isFinite(tried.loss) ? tried.loss : Number.MAX_VALUE }];
  if (!better) return;
  search.best = found;
  search.chosen = search.tried.length - 1;
}

const widened = ({ weight, bias }: LinearWeights): Solution => ({
  weight: Float64Array.from(weight),
  bias: Float64Array.from(bias),
});
const narrowed = ({ weight, bias }: Solution): LinearWeights => ({
  weight: Float32Array.from(weight),
  bias: Float32Array.from(bias),
});

/** Rows [0, rows) of a design to be fitted. */
type Fitting = Pick<PathProblem, 'design' | 'output' | 'classWeights'> & Pick<LogisticProblem, 'rows' | 'leastGain'>;

function* solve(
  { design, rows, leastGain, output, classWeights }: Fitting,
  penalty: number,
  start: LinearWeights,
  ridge: RidgeSolver | null,
): Work<LinearWeights> {
  if (output.kind === 'value') return narrowed(yield* ridge!.solve(penalty, widened(start)));
  const counts = countClasses(design, rows, output.classes.length);
  const present = counts.flatMap((count, k) => (count > 0 ? [k] : []));
  if (present.length < 2) return start;
  const weights = counts.map((_, k) => classWeights?.[k] ?? 1);
  if (present.length === counts.length) {
    const outputs = outputsOf(output);
    const problem = {
      design,
      rows,
      outputs,
      classWeights: weights,
      penalty,
      tolerance: leastGain ? 0 : closely,
      leastGain,
    };
    return narrowed(yield* solveLogistic(problem, widened(start)));
  }
  // Classes that no row has would drive their intercepts to minus infinity: they stay at half a row's share.
  const targets = Float32Array.from(design.targets, (target) => present.indexOf(target));
  const K = present.length;
  const found = yield* solveLogistic(
    {
      design: { ...design, targets },
      rows,
      outputs: K,
      classWeights: present.map((k) => weights[k]),
      penalty,
      tolerance: leastGain ? 0 : closely,
      leastGain,
    },
    { weight: new Float64Array(design.width * K), bias: new Float64Array(K) },
  );
  return narrowed(spread(found, present, counts.length, design.width, rows));
}

function spread(found: Solution, present: readonly number[], classes: number, width: number, rows: number): Solution {
  const K = present.length;
  const level = Math.log(found.bias.reduce((sum, bias) => sum + Math.exp(bias), 0));
  const weight = new Float64Array(width * classes);
  const bias = new Float64Array(classes).fill(level + Math.log(0.5 / rows));
  present.forEach((k, i) => {
    bias[k] = found.bias[i];
    for (let column = 0; column < width; column++) weight[column * classes + k] = found.weight[column * K + i];
  });
  return { weight, bias };
}

function countClasses({ targets }: Design, rows: number, classes: number): number[] {
  const counts = new Array<number>(classes).fill(0);
  for (let row = 0; row < rows; row++) counts[targets[row]]++;
  return counts;
}

/** The rows of a design with every fifth one behind the others. */
function setAside(design: Design, rows: number): { readonly design: Design; readonly fitted: number } {
  const order = Array.from({ length: rows }, (_, row) => row);
  const [fit, held] = [order.filter((row) => row % 5 !== 4), order.filter((row) => row % 5 === 4)];
  const { dense, categories, counted } = design;
  const x = new Float32Array(rows * dense);
  const ones = new Uint32Array(rows * categories);
  const targets = new Float32Array(rows);
  const moved = [...fit, ...held];
  moved.forEach((row, place) => {
    x.set(design.x.subarray(row * dense, (row + 1) * dense), place * dense);
    ones.set(design.ones.subarray(row * categories, (row + 1) * categories), place * categories);
    targets[place] = design.targets[row];
  });
  const own = counted && someRows(counted, moved);
  return { design: { ...design, rows, x, ones, targets, counted: own }, fitted: fit.length };
}

/** Mean loss of rows [from, to): squared error, or cross-entropy with the classes' weights. */
function* lossOf(
  { output, classWeights }: PathProblem,
  design: Design,
  from: number,
  to: number,
  weights: LinearWeights,
): Work<number> {
  // As wide as those of the solver: loops that meet arrays of two kinds are slow with both.
  const { weight, bias } = widened(weights);
  const K = bias.length;
  const each = K * entriesOf(design);
  const block = blockOf(each);
  const scores = new Float64Array(block * K);
  let [loss, total] = [0, 0];
  for (let start = from; start < to; start += block) {
    const end = Math.min(to, start + block);
    scoresOf(design, start, end, weight, bias, scores);
    for (let row = start; row < end; row++) {
      const [at, target] = [(row - start) * K, design.targets[row]];
      const share = output.kind === 'classes' ? (classWeights?.[target] ?? 1) : 1;
      loss += share * (output.kind === 'classes' ? surprise(scores, at, K, target) : (scores[at] - target) ** 2);
      total += share;
    }
    yield (end - start) * each;
  }
  return loss / total;
}

/** −log of the probability of the target. */
function surprise(scores: Float64Array, at: number, K: number, target: number): number {
  if (K === 1) return Math.max(scores[at], 0) - scores[at] * target + Math.log1p(Math.exp(-Math.abs(scores[at])));
  let maximum = -Infinity;
  for (let k = 0; k < K; k++) maximum = Math.max(maximum, scores[at + k]);
  let sum = 0;
  for (let k = 0; k < K; k++) sum += Math.exp(scores[at + k] - maximum);
  return maximum + Math.log(sum) - scores[at + target];
}
