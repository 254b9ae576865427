// Packed tables and JSON: what is inside comes out as it was written, digit by digit.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { join } from 'node:path';
import { allRows, columnOf, importFile, makeService, messy, temporaryFolder, writeTable } from './helpers.ts';
import { zipOf } from './zip.ts';

const csv = 'a,b\n1,x\n2,y\n3,x\n';
const rows = [
  [1, 'x'],
  [2, 'y'],
  [3, 'x'],
];

test('a table in gzip, and in a zip archive beside its description', async (context) => {
  const gzip = await importFile(context, writeTable(context, 'table.csv.gz', gzipSync(csv)));
  assert.deepEqual(await allRows(gzip.service, gzip.info), rows);
  assert.equal(gzip.info.reading['packed as'], 'gzip');
  const files = { 'data/table.csv': csv, 'data/readme.txt': 'About this table', '__MACOSX/data/._table.csv': 'x' };
  const zip = await importFile(context, writeTable(context, 'table.zip', zipOf(files)));
  assert.deepEqual(await allRows(zip.service, zip.info), rows);
  assert.equal(zip.info.reading['packed as'], 'zip: data/table.csv');
  assert.equal(zip.info.source, 'table.zip');
});

/** The first block of a tar archive, and a second one: what it is packed with does not matter. */
const tar = Buffer.alloc(1024);
tar.write('cat/a.png', 0, 'latin1');
tar.write('ustar', 257, 'latin1');
const own = Buffer.from(tar);
own.write('trainyard.json\0', 0, 'latin1');
const shots = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`a/${i}.jpg`, 'x']));
const refused: readonly (readonly [name: string, bytes: Uint8Array, message: RegExp])[] = [
  ['two.zip', zipOf({ 'a.csv': csv, 'b.csv': csv }), /two\.zip holds 2 tables: a\.csv, b\.csv/],
  ['none.zip', zipOf({ 'a.bin': 'x' }), /none\.zip holds no table: a\.bin/],
  [
    'shots.zip',
    zipOf({ 'cat/a.png': 'x', 'readme.txt': 'On cats' }),
    /holds pictures and no table: cat\/a\.png, readme/,
  ],
  ['labelled.zip', zipOf({ 'labels.csv': csv, ...shots }), /labelled\.zip holds 12 pictures beside labels\.csv/],
  ['runs.bak', own, /runs\.bak holds runs or a whole home of Trainyard and is no table/],
  ['shots.tar', tar, /shots\.tar is a tar archive, not a table/],
  ['shots.tgz', gzipSync(tar), /shots\.tgz is a tar archive, not a table/],
  ['book.zip', zipOf({ '[Content_Types].xml': 'x', 'xl/workbook.xml': 'x' }), /it is an Excel workbook/],
  ['cut.csv.gz', gzipSync(csv.repeat(1000)).subarray(0, 60), /cut\.csv\.gz is a gzip file that cannot be unpacked/],
  ['empty.csv.gz', gzipSync(''), /empty\.csv\.gz is empty/],
];

for (const [name, bytes, message] of refused) {
  test(`${name} is refused, saying why`, async (context) => {
    const service = makeService(context);
    await assert.rejects(service.import({ job: 'a', path: writeTable(context, name, bytes) }), {
      name: 'InputError',
      message,
    });
  });
}

test('JSON: structures come apart, mixed values keep their words, thousands are numbers', async (context) => {
  const objects = Array.from({ length: 40 }, (_, row) => ({
    user: { geo: { lat: row * 1.5 }, name: `n${row % 4}` },
    mixed: row % 2 === 0 ? `t${row % 3}` : row,
    price: (row * 1234).toLocaleString('en'),
  }));
  const text = objects.map((object) => JSON.stringify(object)).join('\n');
  const { service, info } = await importFile(context, writeTable(context, 'nested.jsonl', text));
  assert.deepEqual(
    info.columns.map(({ name, type }) => [name, type]),
    [
      ['user.geo.lat', 'number'],
      ['user.name', 'category'],
      ['mixed', 'category'],
      ['price', 'number'],
    ],
  );
  assert.equal(columnOf(info, 'price').maximum, 39 * 1234);
  assert.deepEqual((await allRows(service, info)).slice(0, 2), [
    [0, 'n0', 't0', '0'],
    [1.5, 'n1', '1', '1,234'],
  ]);
});

const large = (row: number): bigint => 9007199254740993n + BigInt(row) * 2n;

test('identifiers of 64 bits keep every digit: JSON, Parquet, and CSV far down', async (context) => {
  const expected = Array.from({ length: 30 }, (_, row) => String(large(row)));
  const lines = expected.map((id, row) => `{"id": ${id}, "y": ${row % 2}}`).join('\n');
  const json = await importFile(context, writeTable(context, 'ids.jsonl', lines));
  assert.deepEqual(
    (await allRows(json.service, json.info)).map(([id]) => id),
    expected,
  );
  assert.equal(columnOf(json.info, 'id').type, 'identifier');

  const path = join(temporaryFolder(context), 'ids.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT 9007199254740993 + 2 * i AS id, i % 2 AS y FROM range(30) t(i)) TO '${path}'`);
  connection.closeSync();
  instance.closeSync();
  const parquet = await importFile(context, path);
  assert.deepEqual(
    (await allRows(parquet.service, parquet.info)).map(([id]) => id),
    expected,
  );

  const late = `id,y\n${'12,1\n'.repeat(5000)}${expected.map((id) => `${id},0\n`).join('')}`;
  const text = await importFile(context, writeTable(context, 'late.csv', late));
  const page = await text.service.rows({ dataset: text.info.id, offset: 5000, limit: 30 });
  assert.deepEqual(
    page.rows.map(([id]) => id),
    expected,
  );
});

test('no message repeats the words of DuckDB', async (context) => {
  const service = makeService(context);
  const cut = readFileSync(messy('lines.jsonl')).subarray(0, 300);
  for (const [name, bytes] of [
    ['cut.jsonl', cut],
    ['list.json', Buffer.from('[{"a": 1}, {"a": ]')],
    ['odd.parquet', Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(200, 7)])],
  ] as const) {
    await assert.rejects(service.import({ job: 'a', path: writeTable(context, name, bytes) }), (error: Error) => {
      assert.match(error.message, new RegExp(name.replace('.', '\\.')));
      assert.doesNotMatch(error.message, /Error:|LINE \d|maximum_|Set By User|home|tmp/);
      return error.name === 'InputError';
    });
  }
});
