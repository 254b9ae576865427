// Fits of table models that a lab times beside training steps: what forecasts of trees and linear models on this machine rest on
// (engine/hardware/tables/speed.ts). Rows are drawn as bins, so that nothing but the fit is timed.

import type { Backend } from '../backends/backend.ts';
import { labFits } from '../hardware/tables/speed.ts';
import type { ColumnBins } from '../learners/trees/bins.ts';
import { boost, startOf } from '../learners/trees/boosting.ts';
import { firstShares, growForest } from '../learners/trees/forest.ts';
import type { ForestSetup } from '../learners/trees/forest-setup.ts';
import { objectiveOf } from '../learners/trees/objectives.ts';
import type { BinnedRows } from '../learners/trees/rows.ts';
import { constantWeights, searchPenalty } from '../learners/linear/path.ts';
import { finish } from '../learners/linear/work.ts';
import type { OutputSpec } from '../model/spec.ts';
import { shuffle } from '../optim/random.ts';
import type { OpenWorkload } from './workload.ts';

export interface LearnerFit {
  readonly name: string;
  readonly unit: 'ms/fit';
  /** Of which devices of a lab. */
  readonly on: readonly string[];
  readonly open: (backend: Backend) => Promise<OpenWorkload>;
}

const output: OutputSpec = { kind: 'classes', classes: ['no', 'yes'] };
const bins = 255;

/** Values −1 … 1 by a shuffled order: the same on every machine. */
function drawn(count: number, stream: number): Float32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  shuffle(order, 1, stream, 0);
  return Float32Array.from(order, (place) => (2 * (place + 0.5)) / count - 1);
}

/** Two classes by a bent sum of some columns, and chance. */
function tableOf(rows: number, width: number): { readonly x: Float32Array; readonly y: Float32Array } {
  const x = drawn(rows * width, 1);
  const chance = drawn(rows, 2);
  const y = Float32Array.from({ length: rows }, (_, row) => {
    const [a, b, c, d] = x.subarray(row * width, row * width + 4);
    return 2 * a * b + Math.sin(3 * c) + 0.7 * d + 0.5 * chance[row] > 0 ? 1 : 0;
  });
  return { x, y };
}

function binnedOf(rows: number, width: number): { readonly rows: BinnedRows; readonly columns: readonly ColumnBins[] } {
  const { x, y } = tableOf(rows, width);
  const edges = Float64Array.from({ length: bins - 1 }, (_, i) => (2 * (i + 1)) / bins - 1);
  return {
    rows: { rows, width, bins: Uint8Array.from(x, (value) => ((value + 1) / 2) * bins), targets: y },
    columns: Array.from({ length: width }, () => ({ kind: 'number', bins, edges }) as const),
  };
}

/** A fit as a workload: one after the other. */
const opened = (threads: number, fit: () => Promise<void>): OpenWorkload => ({
  threads,
  run: async (units = 1) => {
    for (let i = 0; i < units; i++) await fit();
  },
  close: () => undefined,
});

async function finished(work: Pick<AsyncGenerator<void, void, void>, 'next'>): Promise<void> {
  while (!(await work.next()).done) continue;
}

export const learnerFits: readonly LearnerFit[] = [
  {
    name: labFits.boosted.name,
    unit: 'ms/fit',
    on: ['cpu', 'cpu-1'],
    open: async (backend) => {
      const { model, counts, columns: width } = labFits.boosted.task;
      const { trees, leaves, minRows, rowFraction, featureFraction: columnFraction } = model.boosted;
      const table = binnedOf(counts.train, width);
      const problem = {
        ...table,
        train: counts.train,
        validation: 0,
        objective: objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, output, null),
        settings: {
          ...{ trees, leaves, minRows, rowFraction, columnFraction, learningRate: 0.1, patience: 0, seed: 1, depth: 0 },
          ...{ l1: 0, l2: 0, minGain: 0, minHessian: 1e-3, catSmooth: 10, catL2: 10, monotone: null },
        },
        backend: async () => backend,
      };
      return opened(backend.device.threads, () => finished(boost(problem, startOf(problem))));
    },
  },
  {
    name: labFits.forest.name,
    unit: 'ms/fit',
    on: ['cpu', 'cpu-1'],
    open: async (backend) => {
      const { model, counts, columns: width } = labFits.forest.task;
      const { trees, minRows, bootstrap: drawn } = model.forest;
      const table = binnedOf(counts.train, width);
      const columns = Math.round(Math.sqrt(width));
      const bootstrap = (drawn as string) === 'yes';
      const settings = { trees, minRows, depth: 0, columns, randomCuts: false, bootstrap, seed: 1 };
      const setup: ForestSetup = {
        ...{ ...table, train: counts.train, validation: 0, output, classWeights: null, settings },
        backend: async () => backend,
      };
      return opened(backend.device.threads, () => {
        const forest = { first: firstShares(setup), trees: [], validationLoss: [], outOfBagLoss: [] };
        return finished(growForest(setup, forest, () => 0));
      });
    },
  },
  {
    name: labFits.linear.name,
    unit: 'ms/fit',
    on: ['cpu-1'],
    open: async () => {
      const { model, counts, columns: width } = labFits.linear.task;
      const { x, y: targets } = tableOf(counts.train, width);
      const design = { rows: counts.train, dense: width, width, x, ones: new Uint32Array(0), categories: 0, targets };
      const common = { design, train: counts.train, validation: 0, output, classWeights: null };
      const problem = { ...common, penalty: model.linear.penalty };
      return opened(1, async () =>
        finish(searchPenalty(problem, { tried: [], best: constantWeights(problem), chosen: -1 })),
      );
    },
  },
];
