// Gradient boosting (Friedman 2001): tree after tree, each grown on the gradients of the loss at the scores so far. What is known is
// the trees and their losses: scores are made of them again, bit for bit.

import type { ColumnBins } from './bins.ts';
import { addTrees } from './ensemble.ts';
import { toGrid } from './gradients.ts';
import { Grower, type GrowRules, type GrownTree } from './grow.ts';
import { binStarts } from './histogram.ts';
import type { Objective } from './objectives.ts';
import type { BinnedRows } from './rows.ts';
import { drawColumns, drawer, drawRows } from './sampling.ts';
import type { Tree } from './tree.ts';

export interface BoostSettings extends GrowRules {
  /** Rounds: trees of each output. */
  readonly trees: number;
  readonly learningRate: number;
  readonly rowFraction: number;
  readonly columnFraction: number;
  /** Rounds without a better validation loss until it stops; 0 = never. */
  readonly patience: number;
  readonly seed: number;
}

export interface BoostProblem {
  readonly rows: BinnedRows;
  readonly columns: readonly ColumnBins[];
  /** Rows of the training split, which stand first, and of the validation split behind them. */
  readonly train: number;
  readonly validation: number;
  readonly objective: Objective;
  readonly settings: BoostSettings;
}

/** What boosting knows; it is what a checkpoint keeps. */
export interface Boosted {
  /** [outputs]: the first score, in float32. */
  readonly first: Float32Array;
  /** Round by round, one for each output. */
  readonly trees: Tree[];
  /** A value a round. */
  readonly trainLoss: number[];
  /** Empty without validation rows. */
  readonly validationLoss: number[];
}

export function startOf({ objective, rows, train }: BoostProblem): Boosted {
  const all = Uint32Array.from({ length: train }, (_, row) => row);
  const first = Float32Array.from(objective.first(rows.targets, all));
  return { first, trees: [], trainLoss: [], validationLoss: [] };
}

/** Rounds whose trees are kept: up to the best by the validation rows where boosting may stop early, else all. */
export function keptRounds({ trainLoss, validationLoss }: Boosted, patience: number): number {
  if (patience === 0 || validationLoss.length === 0) return trainLoss.length;
  let best = 0;
  validationLoss.forEach((loss, round) => {
    if (loss < validationLoss[best]) best = round;
  });
  return best + 1;
}

/** Whether there is nothing more to do. */
function isOver({ settings: { trees, patience } }: BoostProblem, state: Boosted): boolean {
  const rounds = state.trainLoss.length;
  if (rounds >= trees) return true;
  const stalls = patience > 0 && state.validationLoss.length > 0;
  return stalls && rounds - keptRounds(state, patience) >= patience;
}

/** Digits of a leaf's value: it is written so, and means what is written. */
const digits = 9;

/** Boosts on; `state` is brought up to date after every round. */
export function* boost(problem: BoostProblem, state: Boosted): Generator<void, void, void> {
  const { rows, columns, train, validation, objective, settings } = problem;
  const K = objective.outputs;
  const seen = train + validation;
  const scores = new Float64Array(seen * K);
  for (let i = 0; i < scores.length; i++) scores[i] = state.first[i % K];
  yield* addTrees(scores, K, state.trees, columns, rows, 0, seen);
  const grower = new Grower(rows, columns, binStarts(columns), settings);
  const all = Uint32Array.from({ length: train }, (_, row) => row);
  const gradients = { gradient: new Float64Array(train), hessian: new Float64Array(train) };
  const sampled = settings.rowFraction < 1 || settings.columnFraction < 1;

  for (let round = state.trainLoss.length; !isOver(problem, state); round++) {
    const list = drawRows(all, settings.rowFraction, settings.seed, round);
    objective.prepare?.(scores, list);
    const grown: GrownTree[] = [];
    for (let k = 0; k < K; k++) {
      objective.gradients(scores, rows.targets, list, k, gradients);
      toGrid(gradients, list);
      yield;
      const draw = drawer(settings.seed, 'columns', round * K + k);
      const chosen = drawColumns(columns.length, settings.columnFraction, draw);
      const tree = yield* grower.grow(gradients, K === 1 ? list : list.slice(), chosen);
      shrink(tree, objective, scores, rows.targets, settings.learningRate);
      grown.push(tree);
    }
    // Nothing gains enough, and it would be the same the next time.
    if (!sampled && round > 0 && grown.every(({ tree }) => tree.column.length === 0)) return;
    for (const [k, tree] of grown.entries()) addGrown(scores, K, k, tree);
    const trees = grown.map(({ tree }) => tree);
    const outOfBag = list.length < train ? 0 : train;
    if (outOfBag < seen) yield* addUnseen(scores, K, trees, problem, grown[0].list, outOfBag);
    state.trees.push(...trees);
    if (validation > 0) state.validationLoss.push(objective.loss(scores, rows.targets, train, seen));
    state.trainLoss.push(objective.loss(scores, rows.targets, 0, train));
    yield;
  }
}

/** The leaves' values as they are kept: the loss's own where it has some, times the learning rate. */
function shrink(
  { tree, list, starts, ends }: GrownTree,
  { leaf }: Objective,
  scores: Float64Array,
  targets: Float32Array,
  rate: number,
): void {
  const { value } = tree;
  for (let i = 0; i < value.length; i++) {
    if (leaf)
      value[i] = leaf(Float64Array.from(list.subarray(starts[i], ends[i]), (row) => targets[row] - scores[row]));
    value[i] = Number((rate * value[i]).toPrecision(digits));
  }
}

/** Adds a tree to the scores of the rows that it was grown on: their leaves are known. */
function addGrown(scores: Float64Array, K: number, k: number, { tree, list, starts, ends }: GrownTree): void {
  for (let leaf = 0; leaf < starts.length; leaf++) {
    const value = tree.value[leaf];
    for (let i = starts[leaf]; i < ends[leaf]; i++) scores[list[i] * K + k] += value;
  }
}

/** Adds a round's trees to the rows from `from` on that it was not grown on. */
function* addUnseen(
  scores: Float64Array,
  K: number,
  trees: readonly Tree[],
  { rows, columns, train, validation }: BoostProblem,
  drawn: Uint32Array,
  from: number,
): Generator<void, void, void> {
  if (from === train) {
    yield* addTrees(scores.subarray(train * K), K, trees, columns, rows, train, train + validation);
    return;
  }
  const before = scores.slice(0, train * K);
  yield* addTrees(scores, K, trees, columns, rows, 0, train + validation);
  // Those it was grown on have it already.
  for (const row of drawn) for (let k = 0; k < K; k++) scores[row * K + k] = before[row * K + k];
}
