// A table on its way to bins: on a device as on the host.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import { binsOf } from '../../engine/learners/trees/bins.ts';
import { addTrees, finish } from '../../engine/learners/trees/ensemble.ts';
import { openPredictor } from '../../engine/learners/trees/predictor.ts';
import { columnBins, readBinned } from '../../engine/learners/trees/rows.ts';
import { hostBinner } from '../../engine/learners/trees/table-device.ts';
import { TreeBuilder, type Tree } from '../../engine/learners/trees/tree.ts';
import type { RawColumn } from '../../engine/model/spec.ts';
import { uniform } from '../support/table.ts';
import { finishAsync } from '../support/trees.ts';

const cpu = createCpuBackend({ threads: 2 });
after(() => cpu.close());

const number: RawColumn = { name: 'x', kind: 'number' };
const category: RawColumn = { name: 'c', kind: 'category', categories: [] };

test('a table goes to the same bins on a device as on the host, and is asked there as it is', async () => {
  const random = uniform(11);
  const [rows, width] = [90_001, 6];
  const kinds = Array.from({ length: width }, (_, i) => (i === 2 ? category : number));
  const x = Float64Array.from({ length: rows * width }, (_, i) => {
    const one = random() - 0.5;
    return [one, one < -0.2 ? NaN : Math.floor(40 * one), Math.floor(300 * (one + 0.5)), 0, NaN, one > 0 ? 0 : -0][
      i % width
    ];
  });
  const shardStarts = [0, 65_536, rows];
  const data = { input: { kind: 'columns', columns: kinds }, shardStarts, counts: { train: rows - 700 } };
  const read = {
    data: data as unknown as Rows['data'],
    readShard: async (shard: number) => ({
      x: x.subarray(width * shardStarts[shard], width * shardStarts[shard + 1]),
      y: new Float32Array(shardStarts[shard + 1] - shardStarts[shard]),
    }),
    backend: async () => cpu,
  } as Pick<Rows, 'data' | 'readShard' | 'backend'>;
  const wait = async (): Promise<void> => undefined;
  const columns = await columnBins(read, wait);
  const wanted = kinds.map((kind, i) =>
    binsOf(
      kind,
      Float64Array.from({ length: rows - 700 }, (_, row) => x[row * width + i]),
    ),
  );
  assert.deepEqual(columns, wanted);
  const { bins } = await readBinned(read, columns, wait);
  const host = new Uint8Array(rows * width);
  await finishAsync(hostBinner(columns).put(x, rows, host));
  assert.deepEqual(bins, host);

  const stump: Tree = new TreeBuilder().finish(Float64Array.of(0.5), Float64Array.of(1));
  const builder = new TreeBuilder();
  builder.split(0, { column: 0, cut: 99, missingLeft: false, gain: 1, set: null });
  builder.split(1, { column: 2, cut: 0, missingLeft: false, gain: 1, set: [1, 7, 30] });
  const trees = [stump, builder.finish(Float64Array.of(1, 2, 3), Float64Array.of(1, 1, 1))];
  const predictor = await openPredictor(cpu, trees, columns, 1, rows);
  const [asked, answered] = [new Float64Array(rows), new Float64Array(rows)];
  await finishAsync(predictor.addRows(x, asked));
  predictor.close();
  finish(addTrees(answered, 1, trees, columns, { bins, width }, 0, rows));
  assert.deepEqual(asked, answered);
});
