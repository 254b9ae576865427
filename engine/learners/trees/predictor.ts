// Trees asked on a device: the bins of some rows go there, their scores come back.

import { kernels } from '../../../kernels/registry.ts';
import type { Backend } from '../../backends/backend.ts';
import type { Call, Plan, Slot, TensorPlace } from '../../plan/plan.ts';
import type { ColumnBins } from './bins.ts';
import { encodeTrees } from './encoded.ts';
import { addTrees } from './ensemble.ts';
import type { BinnedRows } from './rows.ts';
import type { Tree, Walk } from './tree.ts';

/** Rows times trees from which on a device is worth its opening. */
const leastVisits = 1_000_000;

/** Rows there at a time, at most. */
const predictedAtOnce = 65_536;

/** Whether so many rows are a device's work: trees with a value a leaf, and much to do. */
function pays(trees: readonly Tree[], rows: number): boolean {
  return rows * trees.length >= leastVisits && trees.every(({ spread }) => spread === null);
}

export interface Predictor {
  /** Adds the trees to scores [count, outputs] of rows whose bins are [count, width]; `predictedAtOnce` rows at most. */
  add(bins: Uint8Array, scores: Float64Array): Promise<Float64Array>;
  close(): void;
}

/** The trees on a device. Tree t is of output t modulo `outputs`. */
export async function openPredictor(
  backend: Backend,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  outputs: number,
  most: number,
): Promise<Predictor> {
  const rows = Math.min(most, predictedAtOnce);
  const width = columns.length;
  const encoded = encodeTrees(trees, columns);
  const data = {
    bins: { type: 'u8', elements: rows * width },
    list: { type: 'u32', elements: rows },
    nodes: { type: 'u32', elements: Math.max(4, encoded.nodes.length) },
    masks: { type: 'u32', elements: Math.max(8, encoded.masks.length) },
    roots: { type: 'u32', elements: trees.length },
    values: { type: 'f64', elements: encoded.values.length },
    job: { type: 'u32', elements: 5 },
    scores: { type: 'f64', elements: rows * outputs },
  } as const;
  const slots = Object.entries(data).map(([label, one], id): Slot => ({ id, label, kind: 'persistent', ...one }));
  const tensors = Object.fromEntries(
    slots.map(({ id, label, type, elements }): [string, TensorPlace] => [
      label,
      { slot: id, offset: 0, shape: [elements], type },
    ]),
  );
  const kernel = kernels.tree_predict;
  const params = {
    ...{ rows, width, outputs, trees: trees.length, leaves: encoded.values.length },
    ...{ nodes: data.nodes.elements / 4, masks: data.masks.elements },
  };
  const place = ({ name }: { readonly name: string }): TensorPlace => tensors[name];
  const call: Call = {
    kernel: kernel.name,
    inputs: kernel.inputs.map(place),
    outputs: kernel.outputs.map(place),
    params,
  };
  const programs = { predict: { name: 'predict', batch: rows, calls: [call], ...kernel.cost(params) } };
  const plan: Plan = { slots, tensors, programs, stepCapacity: 1, checkpoint: [] };
  const executable = await backend.compile(plan);
  for (const name of ['nodes', 'masks', 'roots', 'values'] as const) executable.write(name, encoded[name]);
  return {
    async add(bins, scores) {
      executable.write('bins', bins);
      executable.write('scores', scores);
      executable.write('job', Uint32Array.of(scores.length / outputs, 0, 0, trees.length, 0));
      await executable.run('predict', 1);
      return (await executable.read('scores', 0, scores.length)) as Float64Array;
    },
    close: () => executable.dispose(),
  };
}

/** Adds trees to `scores` [rows, outputs] of rows whose bins are [rows, width]; many on the device, few right here. */
export async function* addEverywhere(
  backend: () => Promise<Backend>,
  scores: Float64Array,
  outputs: number,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  { bins, width }: Pick<BinnedRows, 'bins' | 'width'>,
  walks?: readonly Walk[],
): AsyncGenerator<void, void, void> {
  const rows = scores.length / outputs;
  if (!pays(trees, rows)) {
    yield* addTrees(scores, outputs, trees, columns, { bins, width }, 0, rows, walks);
    return;
  }
  const predictor = await openPredictor(await backend(), trees, columns, outputs, rows);
  try {
    for (let from = 0; from < rows; from += predictedAtOnce) {
      const to = Math.min(rows, from + predictedAtOnce);
      const own = bins.subarray(from * width, to * width);
      scores.set(await predictor.add(own, scores.subarray(from * outputs, to * outputs)), from * outputs);
      yield;
    }
  } finally {
    predictor.close();
  }
}
