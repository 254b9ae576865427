// Trees asked on a device: rows go there, as they are or as bins, and their scores come back.

import type { Backend } from '../../backends/backend.ts';
import type { ColumnBins } from './bins.ts';
import { encodeTrees } from './encoded.ts';
import { addTrees } from './ensemble.ts';
import { kernelPlan } from './kernel-plan.ts';
import type { BinnedRows } from './rows.ts';
import { binCall, binTensors, part, rowsAtOnce, rowWriter, writeEdges } from './table-device.ts';
import type { Tree } from './tree.ts';

/** Rows times trees from which on a device is worth its opening. */
const leastVisits = 1_000_000;

/** Whether so many rows are a device's work: trees with a value a leaf, and much to do. */
export function pays(trees: readonly Tree[], rows: number): boolean {
  return rows * trees.length >= leastVisits && trees.every(({ spread }) => spread === null);
}

export interface Predictor {
  /** Adds the trees to scores [count, outputs] of rows whose bins are [count, width]. */
  addBins(bins: Uint8Array, scores: Float64Array): AsyncGenerator<void, void, void>;
  /** The same for rows as they are, [count, width]. */
  addRows(x: ArrayLike<number>, scores: Float64Array): AsyncGenerator<void, void, void>;
  close(): void;
}

/** The trees on a device, for `most` rows at once. Tree t is of output t modulo `outputs`. */
export async function openPredictor(
  backend: Backend,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  outputs: number,
  most: number,
): Promise<Predictor> {
  const width = columns.length;
  const rows = rowsAtOnce(width, most);
  const encoded = encodeTrees(trees, columns);
  const tensors = {
    ...binTensors(rows, width),
    list: { type: 'u32', elements: rows },
    nodes: { type: 'u32', elements: Math.max(4, encoded.nodes.length) },
    masks: { type: 'u32', elements: Math.max(8, encoded.masks.length) },
    roots: { type: 'u32', elements: trees.length },
    values: { type: 'f64', elements: encoded.values.length },
    job: { type: 'u32', elements: 5 },
    scores: { type: 'f64', elements: rows * outputs },
  } as const;
  const params = {
    ...{ rows, width, outputs, trees: trees.length, leaves: encoded.values.length },
    ...{ nodes: tensors.nodes.elements / 4, masks: tensors.masks.elements },
  };
  const walk = { kernel: 'tree_predict', params } as const;
  const plan = kernelPlan(tensors, { bins: [walk], rows: [binCall(rows, width), walk] });
  const executable = await backend.compile(plan);
  for (const name of ['nodes', 'masks', 'roots', 'values'] as const) executable.write(name, encoded[name]);
  writeEdges(executable, columns);
  const writeRows = rowWriter(executable, columns, rows);

  /** Part by part: between two of them others may have their turn. */
  async function* add(
    program: 'bins' | 'rows',
    write: (from: number, to: number) => void,
    scores: Float64Array,
  ): AsyncGenerator<void, void, void> {
    const count = scores.length / outputs;
    for (let from = 0; from < count; from += rows) {
      const to = Math.min(count, from + rows);
      const own = scores.subarray(from * outputs, to * outputs);
      write(from, to);
      executable.write('scores', own);
      executable.write('job', Uint32Array.of(to - from, 0, 0, trees.length, 0));
      await executable.run(program, 1);
      own.set((await executable.read('scores', 0, own.length)) as Float64Array);
      yield;
    }
  }

  return {
    addBins: (bins, scores) =>
      add('bins', (from, to) => executable.write('bins', bins.subarray(from * width, to * width)), scores),
    addRows: (x, scores) => add('rows', (from, to) => writeRows(part(x, from * width, to * width), to - from), scores),
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
): AsyncGenerator<void, void, void> {
  const rows = scores.length / outputs;
  if (!pays(trees, rows)) {
    yield* addTrees(scores, outputs, trees, columns, { bins, width }, 0, rows);
    return;
  }
  const predictor = await openPredictor(await backend(), trees, columns, outputs, rows);
  try {
    yield* predictor.addBins(bins, scores);
  } finally {
    predictor.close();
  }
}
