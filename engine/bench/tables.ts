// What the suite of tables times: trees on rows made up in memory, as the peers' program (tests/bench/tables-peers.py) makes them too. A task
// is opened on a backend and then does its work once at a time: bins, trees and losses, or the prediction of all rows.

import type { Backend } from '../backends/backend.ts';
import type { Rows } from '../learners/learner.ts';
import { plainLoss } from '../learners/scoring.ts';
import { boost, startOf, type BoostProblem } from '../learners/trees/boosting.ts';
import { firstShares, forestOutputs, growForest } from '../learners/trees/forest.ts';
import type { ForestSetup } from '../learners/trees/forest-setup.ts';
import { objectiveOf } from '../learners/trees/objectives.ts';
import { columnBins, readBinned } from '../learners/trees/rows.ts';
import { trainedTrees } from '../learners/trees/trained.ts';
import type { OutputSpec } from '../model/spec.ts';
import { fillNormal, sequentialWords } from '../optim/random.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { ModelFile } from '../protocol/model-file.ts';

export interface TableTask {
  readonly name: string;
  readonly unit: 'ms/fit' | 'ms/prediction';
  /** Of so many rows asked for. */
  readonly rows: (asked: number) => number;
  /** Made ready; what comes back does the work once. */
  readonly open: (table: BenchTable, backend: Backend) => Promise<() => Promise<void>>;
}

export interface BenchTable {
  readonly rows: number;
  readonly width: number;
  readonly x: Float64Array;
  readonly y: Float32Array;
}

/** Rows of the table where nothing else is said, and its columns. */
export const usualTableRows = 100_000;
const columns = 28;
/** Rows of a forest at most: scikit-learn's needs minutes for more. */
const mostForestRows = 20_000;

const output: OutputSpec = { kind: 'classes', classes: ['no', 'yes'] };

/** Normal numbers; two classes by a bent sum of some of them. */
export function benchTable(rows: number, width = columns): BenchTable {
  const normal = new Float32Array(rows * width);
  fillNormal(normal, 1, 60, 1);
  const x = Float64Array.from(normal);
  const next = sequentialWords(1, 61, 0);
  const y = Float32Array.from({ length: rows }, (_, row) => {
    const at = row * width;
    const bent = x[at] * x[at + 1] + Math.sin(2 * x[at + 2]) + x[at + 3] ** 2 - 1 + 0.7 * x[at + 4];
    return bent + (2 * next()) / 2 ** 32 - 1 > 0 ? 1 : 0;
  });
  return { rows, width, x, y };
}

/** Rows as learners get them, in shards. */
function rowsOf({ rows, width, x, y }: BenchTable, backend: Backend): Rows {
  const shard = 65_536;
  const shardStarts = Array.from({ length: Math.ceil(rows / shard) + 1 }, (_, i) => Math.min(rows, i * shard));
  const named = Array.from({ length: width }, (_, i) => ({ name: `c${i}`, kind: 'number' as const }));
  const data: PreparedData = {
    ...{
      handle: 'bench',
      task: 'classification',
      input: { kind: 'columns', columns: named },
      output,
      width,
      targets: 1,
    },
    ...{ shardStarts, counts: { train: rows, validation: 0, test: 0 }, classCounts: [], preprocessing: null },
    warnings: [],
  };
  return {
    data,
    readShard: async (index) => {
      const [start, end] = [shardStarts[index], shardStarts[index + 1]];
      return { rows: end - start, x: x.subarray(start * width, end * width), y: y.subarray(start, end) };
    },
    dataBudget: Infinity,
    backend: async () => backend,
  };
}

/** What no bench asks for. */
function unasked(): never {
  throw new RangeError('the bench explains nothing');
}

/** Work that goes on in slices, done at once. */
async function finish(work: Pick<AsyncGenerator<void, void, void>, 'next'>): Promise<void> {
  while (!(await work.next()).done) continue;
}

const breathe = async (): Promise<void> => undefined;

async function problemOf(table: BenchTable, backend: Backend): Promise<BoostProblem> {
  const rows = rowsOf(table, backend);
  const bins = await columnBins(rows, breathe);
  const settings = {
    ...{ trees: 100, leaves: 31, learningRate: 0.1, rowFraction: 1, columnFraction: 1, patience: 0, seed: 1, depth: 0 },
    ...{ l1: 0, l2: 0, minGain: 0, minRows: 20, minHessian: 1e-3, catSmooth: 10, catL2: 10, monotone: null },
  };
  return {
    ...{ rows: await readBinned(rows, bins, breathe), columns: bins, train: table.rows, validation: 0, settings },
    objective: objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, output, null),
    backend: rows.backend,
  };
}

async function boosted(table: BenchTable, backend: Backend) {
  const problem = await problemOf(table, backend);
  const state = startOf(problem);
  await finish(boost(problem, state));
  return { problem, state };
}

const all = (asked: number): number => asked;

/** 100 trees of 31 leaves, what they say of all rows, and a forest of 300 trees. */
export const tableTasks: readonly TableTask[] = [
  {
    name: 'boosted',
    unit: 'ms/fit',
    rows: all,
    open: async (table, backend) => async () => void (await boosted(table, backend)),
  },
  {
    name: 'predict',
    unit: 'ms/prediction',
    rows: all,
    async open(table, backend) {
      const { problem, state } = await boosted(table, backend);
      const evaluation = { output, training: plainLoss, weights: null };
      const { columns: bins, objective } = problem;
      const { input, task } = rowsOf(table, backend).data;
      const file: ModelFile = { learner: 'boosted', input, output, task };
      const trained = trainedTrees(file, evaluation, {
        ...{ columns: bins, trees: state.trees, first: state.first, raw: objective.raw, adds: true },
        ...{ sumOf: () => unasked(), alone: () => unasked() },
      });
      return async () => void (await trained.outputs(rowsOf(table, backend)));
    },
  },
  {
    name: 'forest',
    unit: 'ms/fit',
    rows: (asked) => Math.min(asked, mostForestRows),
    open: async (table, backend) => async () => {
      const { rows, columns: bins } = await problemOf(table, backend);
      const looked = Math.round(Math.sqrt(table.width));
      const setup: ForestSetup = {
        ...{ rows, columns: bins, train: table.rows, validation: 0, output, classWeights: null },
        backend: async () => backend,
        settings: { trees: 300, minRows: 1, depth: 0, columns: looked, randomCuts: false, bootstrap: true, seed: 1 },
      };
      const first = forestOutputs(output) === 1 ? firstShares(setup) : new Float32Array(0);
      await finish(growForest(setup, { first, trees: [], validationLoss: [], outOfBagLoss: [] }, () => 0));
    },
  },
];
