// What the bench of trees times, and the table it does it on.

import type { Backend } from '../../engine/backends/backend.ts';
import { boost, startOf, type BoostProblem } from '../../engine/learners/trees/boosting.ts';
import { forestOutputs, firstShares, growForest, type ForestSetup } from '../../engine/learners/trees/forest.ts';
import { objectiveOf } from '../../engine/learners/trees/objectives.ts';
import { columnBins, readBinned } from '../../engine/learners/trees/rows.ts';
import { trainedTrees } from '../../engine/learners/trees/trained.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import { plainLoss } from '../../engine/learners/scoring.ts';
import type { OutputSpec } from '../../engine/model/spec.ts';
import type { ModelFile } from '../../engine/protocol/model-file.ts';
import { finishAsync } from './trees.ts';
import { uniform } from './table.ts';

export interface TreeTable {
  readonly rows: number;
  readonly width: number;
  readonly x: Float64Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
}

export interface TreeTask {
  readonly name: string;
  readonly peer: string;
  /** Made ready; what comes back does the work once. */
  open(table: TreeTable, backend: Backend): Promise<() => Promise<unknown>>;
}

const output: OutputSpec = { kind: 'classes', classes: ['no', 'yes'] };

/** Normal numbers; two classes by a bent sum of some of them. */
export function tableRows(rows: number, width: number): TreeTable {
  const random = uniform(17);
  const x = new Float64Array(rows * width);
  for (let i = 0; i < x.length; i += 2) {
    const [size, turn] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
    x[i] = size * Math.cos(turn);
    if (i + 1 < x.length) x[i + 1] = size * Math.sin(turn);
  }
  const y = Float32Array.from({ length: rows }, (_, row) => {
    const at = row * width;
    const bent = x[at] * x[at + 1] + Math.sin(2 * x[at + 2]) + x[at + 3] ** 2 - 1 + 0.7 * x[at + 4];
    return bent + 2 * random() - 1 > 0 ? 1 : 0;
  });
  return { rows, width, x, y };
}

/** Rows as learners get them, in shards. */
function rowsOf({ rows, width, x, y }: TreeTable, backend: Backend): Rows {
  const shard = 65_536;
  const shardStarts = Array.from({ length: Math.ceil(rows / shard) + 1 }, (_, i) => Math.min(rows, i * shard));
  const columns = Array.from({ length: width }, (_, i) => ({ name: `c${i}`, kind: 'number' as const }));
  const data = {
    input: { kind: 'columns', columns },
    output,
    width,
    shardStarts,
    counts: { train: rows, validation: 0, test: 0 },
  };
  return {
    data: data as unknown as Rows['data'],
    readShard: async (index) => ({
      x: x.subarray(shardStarts[index] * width, shardStarts[index + 1] * width),
      y: y.subarray(shardStarts[index], shardStarts[index + 1]),
    }),
    dataBudget: Infinity,
    backend: async () => backend,
  } as Rows;
}

/** What no bench asks for. */
function unasked(): never {
  throw new RangeError('the bench explains nothing');
}

const breathe = async (): Promise<void> => undefined;

async function problemOf(table: TreeTable, backend: Backend): Promise<BoostProblem> {
  const rows = rowsOf(table, backend);
  const columns = await columnBins(rows, breathe);
  const settings = {
    ...{ trees: 100, leaves: 31, learningRate: 0.1, rowFraction: 1, columnFraction: 1, patience: 0, seed: 1, depth: 0 },
    ...{ l1: 0, l2: 0, minGain: 0, minRows: 20, minHessian: 1e-3, catSmooth: 10, catL2: 10, monotone: null },
  };
  return {
    ...{ rows: await readBinned(rows, columns, breathe), columns, train: table.rows, validation: 0, settings },
    objective: objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, output, null),
    backend: rows.backend,
  };
}

async function boosted(table: TreeTable, backend: Backend) {
  const problem = await problemOf(table, backend);
  const state = startOf(problem);
  await finishAsync(boost(problem, state));
  return { problem, state };
}

export const treeTasks: readonly TreeTask[] = [
  { name: 'boosted', peer: 'LightGBM', open: async (table, backend) => () => boosted(table, backend) },
  {
    name: 'predict',
    peer: 'LightGBM',
    async open(table, backend) {
      const { problem, state } = await boosted(table, backend);
      const evaluation = { output, training: plainLoss, weights: null };
      const { columns, objective } = problem;
      const trained = trainedTrees({ output } as ModelFile, evaluation, {
        ...{ columns, trees: state.trees, first: state.first, raw: objective.raw, adds: true },
        ...{ sumOf: () => unasked(), alone: () => unasked() },
      });
      return () => trained.outputs(rowsOf(table, backend));
    },
  },
  {
    name: 'forest',
    peer: 'scikit-learn',
    async open(whole, backend) {
      // As many as scikit-learn is given: it needs minutes for all.
      const rows = Math.min(whole.rows, 20_000);
      const table = { ...whole, rows, x: whole.x.subarray(0, rows * whole.width), y: whole.y.subarray(0, rows) };
      return async () => {
        const { rows: binned, columns } = await problemOf(table, backend);
        const looked = Math.round(Math.sqrt(table.width));
        const setup: ForestSetup = {
          ...{ rows: binned, columns, train: table.rows, validation: 0, output, classWeights: null },
          settings: { trees: 300, minRows: 1, depth: 0, columns: looked, randomCuts: false, bootstrap: true, seed: 1 },
        };
        const first = forestOutputs(output) === 1 ? firstShares(setup) : new Float32Array(0);
        const forest = { first, trees: [], validationLoss: [], outOfBagLoss: [] };
        await finishAsync(growForest(setup, forest, () => 0));
      };
    },
  },
];
