// Where prepared rows are kept: in memory or in a file, with the same contents, in the order of the splits.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { RowWriter, shardStarts } from '../../../engine/data/preprocess/row-store.ts';
import { makeValues } from '../../../engine/data/preprocess/values.ts';
import type { RowShape, RowStore } from '../../../engine/data/preprocess/row-store.ts';
import type { Element } from '../../../engine/data/preprocess/values.ts';
import { DatasetStore } from '../../../engine/data/store.ts';
import { temporaryFolder } from './helpers.ts';

const shape: RowShape = { rows: 30_000, element: 'f32', width: 7, targets: 1 };

/** Row r goes to split r % 3 and holds r, r + 0.25, r + 0.5 …; its target is r. Every 10th row is left out. */
async function fill(store: DatasetStore, memoryBytes: number, element: Element = 'f32'): Promise<RowStore> {
  const rows = shape.rows + Math.ceil(shape.rows / 9);
  const splitOf = (row: number): number => (row % 10 === 9 ? 3 : row % 3);
  const counts = [0, 0, 0];
  for (let row = 0; row < rows; row++) if (splitOf(row) < 3) counts[splitOf(row)] = (counts[splitOf(row)] ?? 0) + 1;
  const writer = await RowWriter.create(
    { ...shape, element, rows: counts.reduce((a, b) => a + b) },
    counts,
    store,
    memoryBytes,
  );
  for (let start = 0; start < rows; start += 2048) {
    const chunk = Math.min(2048, rows - start);
    const x = makeValues(element, 2048 * 7).map((_, index) => start + Math.floor(index / 7) + (index % 7) / 4);
    const y = Float32Array.from({ length: 2048 }, (_, index) => start + index);
    await writer.add(x, y, chunk, (row) => splitOf(start + row));
  }
  return writer.finish();
}

test('rows come out by split, each with its own target', async (context) => {
  const rows = await fill(new DatasetStore(temporaryFolder(context)), 2 ** 30);
  const { x, y } = await rows.read(0, 4);
  assert.deepEqual([...y], [0, 3, 6, 12]);
  assert.deepEqual([...x.subarray(7, 14)], [3, 3.25, 3.5, 3.75, 4, 4.25, 4.5]);
});

for (const element of ['f32', 'f64'] as const) {
  test(`a file gives the same ${element} rows as memory, and goes when it is released`, async (context) => {
    const store = new DatasetStore(temporaryFolder(context));
    const inMemory = await fill(store, 2 ** 30, element);
    assert.ok(!existsSync(store.folder));
    const inFile = await fill(store, 0, element);
    assert.equal(readdirSync(store.folder).length, 1);
    for (const [start, end] of [
      [0, 1],
      [9000, 11_000],
      [29_990, 30_000],
    ] as const) {
      assert.deepEqual(await inFile.read(start, end), await inMemory.read(start, end));
    }
    await inFile.release();
    assert.deepEqual(readdirSync(store.folder), []);
  });
}

test('what is read may be changed without changing the store', async (context) => {
  const rows = await fill(new DatasetStore(temporaryFolder(context)), 2 ** 30);
  (await rows.read(0, 10)).x.fill(-1);
  assert.equal((await rows.read(0, 1)).x[1], 0.25);
});

test('shards hold up to 4 MB and cover all rows', () => {
  const starts = shardStarts({ rows: 500_000, element: 'f32', width: 23, targets: 1 });
  assert.equal(starts[0], 0);
  assert.equal(starts.at(-1), 500_000);
  const bytes = ((starts[1] ?? 0) - (starts[0] ?? 0)) * 24 * 4;
  assert.ok(bytes > 3.9 * 2 ** 20 && bytes <= 4 * 2 ** 20);
  assert.deepEqual(shardStarts({ rows: 3, element: 'f32', width: 5_000_000, targets: 1 }), [0, 1, 2, 3]);
});
