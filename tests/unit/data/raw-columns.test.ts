// Columns as they are: the same splits and targets as scaled rows, values in their unit, and what is missing told from what training
// did not see, in the rows of a training and in another file.

import assert from 'node:assert/strict';
import test from 'node:test';
import { rawCodes } from '../../../engine/model/spec.ts';
import type { PreparedData, PrepareOptions } from '../../../engine/protocol/data.ts';
import { importFile, writeTable, type TestService } from './helpers.ts';

const rows = 100;
const { missing, unseen, first } = rawCodes;

/** Days in order, so that the last rows test; their colour is one that no earlier row has. */
function table(): string {
  const lines = ['day,price,colour,open,sold'];
  for (let row = 0; row < rows; row++) {
    const day = new Date(Date.UTC(2024, 0, 1 + row)).toISOString().slice(0, 10);
    const price = row % 7 === 3 ? '' : String(1_000_000_000 + row / 8);
    const colour = row >= 95 ? 'violet' : row % 9 === 4 ? '' : ['red', 'green', 'blue', 'red'][row % 4];
    lines.push([day, price, colour, row % 3 === 0 ? 'yes' : 'no', row % 2 === 0 ? 'early' : 'late'].join(','));
  }
  return lines.join('\n');
}

const settings = { target: 'sold', splitBy: { kind: 'time', column: 'day' } } as const;

async function rowsOf(service: TestService, data: PreparedData): Promise<{ x: number[][]; y: number[] }> {
  const [x, y]: [number[][], number[]] = [[], []];
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const read = await service.readShard({ handle: data.handle, shard });
    assert.equal(read.x.length, read.rows * data.width);
    for (let row = 0; row < read.rows; row++) x.push([...read.x.subarray(row * data.width, (row + 1) * data.width)]);
    y.push(...read.y);
  }
  return { x, y };
}

test('columns as they are, in training and in another file', async (context) => {
  const { service, info } = await importFile(context, writeTable(context, 'shop.csv', table()), undefined, settings);
  const prepare = (options: Partial<PrepareOptions>): Promise<PreparedData> =>
    service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 5, ...options } });
  const data = await prepare({ forms: ['columns', 'matrix'] });
  const scaled = await prepare({});
  assert.equal(scaled.input.kind, 'table');
  assert.deepEqual([data.counts, data.output], [scaled.counts, scaled.output]);
  const found = await rowsOf(service, data);
  assert.deepEqual(found.y, (await rowsOf(service, scaled)).y, 'the same rows in the same order');

  assert.ok(data.input.kind === 'columns');
  const { columns } = data.input;
  assert.deepEqual(
    columns.map(({ name, kind }) => [name, kind]),
    [
      ['day', 'datetime'],
      ['price', 'number'],
      ['colour', 'category'],
      ['open', 'boolean'],
    ],
  );
  const categories = columns[2]?.kind === 'category' ? columns[2].categories : [];
  assert.deepEqual(categories.toSorted(), ['blue', 'green', 'red'], 'those of the training rows');
  const codeOf = (colour: string): number => first + categories.indexOf(colour);

  const byDay = new Map(found.x.map((row) => [row[0], row]));
  const dayOf = (row: number): number => Date.UTC(2024, 0, 1 + row);
  assert.equal(byDay.size, rows);
  assert.deepEqual(byDay.get(dayOf(0)), [dayOf(0), 1_000_000_000, codeOf('red'), 1]);
  assert.deepEqual(byDay.get(dayOf(3)), [dayOf(3), NaN, codeOf('red'), 1]);
  assert.deepEqual(byDay.get(dayOf(4)), [dayOf(4), 1_000_000_000.5, missing, 0]);
  assert.deepEqual(byDay.get(dayOf(97)), [dayOf(97), 1_000_000_012.125, unseen, 0]);

  const other = ['day,price,colour,open', '2025-06-01,7.25,GREEN,yes', '2025-06-02,,pink,no', '2025-06-03,8,,'].join(
    '\n',
  );
  const path = writeTable(context, 'new.csv', other);
  const predicted = await service.transform({ job: 't', path, preprocessing: data.preprocessing, force: true });
  const { x, y } = await rowsOf(service, predicted);
  assert.deepEqual(predicted.input, data.input);
  assert.deepEqual(x, [
    [Date.UTC(2025, 5, 1), 7.25, codeOf('green'), 1],
    [Date.UTC(2025, 5, 2), NaN, unseen, 0],
    [Date.UTC(2025, 5, 3), 8, missing, NaN],
  ]);
  assert.ok(y.every(Number.isNaN));
  assert.deepEqual(
    predicted.columns?.map(({ name, missing: share, unknown }) => [name, share, unknown]),
    [
      ['day', 0, 0],
      ['price', 1 / 3, 0],
      ['colour', 1 / 3, 1 / 3],
      ['open', 1 / 3, 0],
    ],
  );
});
