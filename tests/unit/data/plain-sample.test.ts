// The sample that is put aside while a plain table is copied: the rows it should hold, and where each of them was.

import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { Database, queryRows } from '../../../engine/data/database.ts';
import { missingCode } from '../../../engine/data/formats/parquet-writer.ts';
import type { GroupColumn } from '../../../engine/data/formats/parquet-writer.ts';
import { PlainSample } from '../../../engine/data/formats/plain-sample.ts';
import { momentsOf } from '../../../engine/data/schema/moments.ts';
import { sampleTable } from '../../../engine/data/schema/table.ts';
import { temporaryFolder } from './helpers.ts';

const columns = [
  { name: 'number', text: false },
  { name: 'few', text: true },
  { name: 'many', text: true },
];
const few = ['a', 'bc', 'def'];

/** What stands in a row of the table. */
const rowOf = (row: number): Record<string, unknown> => ({
  number: row % 5 === 0 ? null : row / 8,
  few: row % 7 === 0 ? null : few[row % 3],
  many: row % 4 === 0 ? null : `name ${row}`,
});

function withLengths(texts: readonly string[]): Uint8Array {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      return [length, Buffer.from(text)];
    }),
  );
}

/** The rows from `start` on as a row group. */
function groupOf(start: number, count: number): GroupColumn[] {
  const rows = Array.from({ length: count }, (_, row) => rowOf(start + row));
  const values = Float64Array.from(rows, ({ number }) => (number === null ? NaN : Number(number)));
  const codes = Uint16Array.from(rows, ({ few: text }) => (text === null ? missingCode : few.indexOf(String(text))));
  const present = Uint16Array.from(rows, ({ many }) => (many === null ? missingCode : 0));
  const names = rows.flatMap(({ many }) => (many === null ? [] : [String(many)]));
  return [
    { kind: 'number', values, moments: momentsOf(values, count) },
    { kind: 'text', codes, texts: withLengths(few), different: few.length },
    { kind: 'text', codes: present, texts: withLengths(names), different: null },
  ];
}

test('a sample holds every so manieth row of all row groups, and its place in the table', async (context) => {
  const folder = temporaryFolder(context);
  const path = join(folder, 'sample.parquet');
  const file = await open(path, 'w');
  const sample = new PlainSample(file, columns, 6);
  // Groups that end within a step, on one, and before the next row of the sample.
  const counts = [20, 4, 3, 9, 40];
  let start = 0;
  for (const count of counts) {
    await sample.add(groupOf(start, count), count, start);
    start += count;
  }
  await sample.finish();
  await file.close();
  const limits = { memoryBytes: 2 ** 28, threads: 1 };
  const database = await Database.open(limits, temporaryFolder(context), { files: [path], folders: [] });
  context.after(() => database.close());
  const expected = Array.from({ length: Math.ceil(start / 6) }, (_, index) => ({
    ...rowOf(6 * index),
    file_row_number: 6 * index,
  }));
  assert.deepEqual(await queryRows(database.connection, `FROM ${sampleTable(path)}`), expected);
});
