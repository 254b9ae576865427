// Gradient boosting (Friedman 2001): tree after tree, each grown on the gradients of the loss at the scores so far. What is known is
// the trees and their losses: scores are made of them again, bit for bit.

import type { Backend } from '../../backends/backend.ts';
import type { Divergence } from '../../train/outcome.ts';
import type { ColumnBins } from './bins.ts';
import { BoostDevice } from './device.ts';
import { Grower, type GrowRules, type GrownTree } from './grow.ts';
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
  /** Where it grows; opened when first asked for. */
  readonly backend: () => Promise<Backend>;
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
  /** The round whose loss was no number: it is left out, and no other follows. */
  divergence?: Divergence;
}

export function startOf({ objective, rows, train }: BoostProblem): Boosted {
  const all = Uint32Array.from({ length: train }, (_, row) => row);
  const first = Float32Array.from(objective.first(rows.targets, all));
  return { first, trees: [], trainLoss: [], validationLoss: [] };
}

/**
 * Rounds whose trees are kept: up to the best by the validation rows where boosting may stop early, else all. Of what diverged the last ones are
 * worth nothing: up to the best in any case.
 */
export function keptRounds({ trainLoss, validationLoss, divergence }: Boosted, patience: number): number {
  const validated = validationLoss.length > 0;
  if (!divergence && (patience === 0 || !validated)) return trainLoss.length;
  const losses = validated ? validationLoss : trainLoss;
  let best = -1;
  losses.forEach((loss, round) => {
    if (best < 0 || loss < losses[best]) best = round;
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

/** Boosts on; `state` is brought up to date after every round. The device's memory is given back at its end, or when it returns before. */
export async function* boost(problem: BoostProblem, state: Boosted): AsyncGenerator<void, void, void> {
  const { rows, columns, train, validation, objective, settings, backend } = problem;
  const sizes = {
    rows: train + validation,
    leaves: settings.leaves,
    outputs: objective.outputs,
    loss: objective.device,
  };
  const device = await BoostDevice.open(await backend(), rows, columns, settings, sizes);
  try {
    yield* boostOn(device, problem, state);
  } finally {
    device.dispose();
  }
}

async function* boostOn(device: BoostDevice, problem: BoostProblem, state: Boosted): AsyncGenerator<void, void, void> {
  const { columns, train, validation, objective, settings } = problem;
  const K = objective.outputs;
  const seen = train + validation;
  const scores = new Float64Array(seen * K);
  for (let i = 0; i < scores.length; i++) scores[i] = state.first[i % K];
  device.setScores(scores);
  for (const [t, tree] of state.trees.entries()) {
    await device.addTree(tree, t % K, [0, seen]);
    yield;
  }
  const grower = new Grower(device, columns, settings);
  const all = Uint32Array.from({ length: train }, (_, row) => row);
  const sampled = settings.rowFraction < 1 || settings.columnFraction < 1;

  for (let round = state.trainLoss.length; !isOver(problem, state); round++) {
    const list = drawRows(all, settings.rowFraction, settings.seed, round);
    const others = notIn(list, seen);
    const trees: Tree[] = [];
    for (let k = 0; k < K; k++) {
      await device.prepare(list, k);
      yield;
      const draw = drawer(settings.seed, 'columns', round * K + k);
      const chosen = drawColumns(columns.length, settings.columnFraction, draw);
      const grown = yield* grower.grow(list.length, chosen);
      await shrink(grown, problem, device);
      await addGrown(grown, device, k);
      await device.addTree(grown.tree, k, others);
      trees.push(grown.tree);
    }
    // Nothing gains enough, and it would be the same the next time.
    if (!sampled && round > 0 && trees.every((tree) => tree.column.length === 0)) break;
    const loss = await device.loss(0, train);
    if (!Number.isFinite(loss)) {
      state.divergence = { step: round + 1, loss };
      break;
    }
    if (validation > 0) state.validationLoss.push(await device.loss(train, seen));
    state.trainLoss.push(loss);
    state.trees.push(...trees);
    yield;
  }
}

/** Rows below `rows` that an ascending list does not have. */
function notIn(list: Uint32Array, rows: number): Uint32Array {
  const others = new Uint32Array(rows - list.length);
  if (others.length === 0) return others;
  for (let row = 0, i = 0, at = 0; row < rows; row++) {
    if (i < list.length && list[i] === row) i++;
    else others[at++] = row;
  }
  return others;
}

/** The leaves' values as they are kept: the loss's own where it has some, times the learning rate. */
async function shrink(
  { tree, starts, ends }: GrownTree,
  { objective, rows, settings }: BoostProblem,
  device: BoostDevice,
): Promise<void> {
  const { value } = tree;
  const { leaf } = objective;
  const [list, scores] = leaf ? [await device.list(), await device.scores()] : [];
  for (let i = 0; i < value.length; i++) {
    if (leaf && list && scores) {
      value[i] = leaf(Float64Array.from(list.subarray(starts[i], ends[i]), (row) => rows.targets[row] - scores[row]));
    }
    value[i] = Number((settings.learningRate * value[i]).toPrecision(digits));
  }
}

/** Adds a tree to the scores of the rows that it was grown on: their leaves are known. */
async function addGrown({ tree, starts, ends }: GrownTree, device: BoostDevice, k: number): Promise<void> {
  const order = [...starts.keys()].sort((one, other) => starts[one] - starts[other]);
  const values = Float64Array.from(order, (leaf) => tree.value[leaf]);
  await device.addGrown(
    Uint32Array.from(order, (leaf) => ends[leaf]),
    values,
    k,
  );
}
