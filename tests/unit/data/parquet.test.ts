// Parquet files, written here by DuckDB itself.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { allRows, columnOf, importFile, temporaryFolder } from './helpers.ts';

async function writeParquet(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (
    SELECT i::INTEGER AS count, (i / 3)::DECIMAL(9, 2) AS price, i % 2 = 0 AS even, DATE '2024-01-01' + i::INTEGER AS day,
      ['a', 'b', 'c'][i % 3 + 1] AS kind, {'x': i} AS nested, CASE WHEN i % 5 > 0 THEN i::FLOAT END AS sparse
    FROM range(1, 31) t(i)
  ) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
}

test('types of a Parquet file', async (context) => {
  const path = join(temporaryFolder(context), 'table.parquet');
  await writeParquet(path);
  const { service, info } = await importFile(context, path);
  const types = Object.fromEntries(info.columns.map(({ name, type }) => [name, type]));
  assert.deepEqual(types, {
    count: 'identifier',
    price: 'number',
    even: 'boolean',
    day: 'datetime',
    kind: 'category',
    'nested.x': 'number',
    sparse: 'number',
  });
  assert.equal(columnOf(info, 'sparse').missing, 6);
  assert.deepEqual((await allRows(service, info))[1], [2, 0.67, true, '2024-01-03', 'c', 2, 2]);
});

test('a Parquet file that was cut off is refused', async (context) => {
  const path = join(temporaryFolder(context), 'table.parquet');
  await writeParquet(path);
  writeFileSync(path, readFileSync(path).subarray(0, 600));
  await assert.rejects(importFile(context, path), { name: 'InputError', code: 'input.parquet' });
});

test('names that differ in capitals only are numbered, and it is said; the same content goes by its first name', async (context) => {
  const path = join(temporaryFolder(context), 'names.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT i AS "a;b", i * 2 AS "A;C" FROM range(1, 31) t(i)) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  // DuckDB writes no such names itself, but the file's metadata holds each as it is.
  const bytes = readFileSync(path).toString('latin1').replaceAll('A;C', 'A;B');
  writeFileSync(path, Buffer.from(bytes, 'latin1'));
  const { service, info } = await importFile(context, path);
  assert.match(
    info.warnings.find(({ code }) => code === 'renamed')?.message ?? '',
    /^Column names have to differ in more than capitals: "A;B" is now "A;B_1"\.$/,
  );
  const copy = join(temporaryFolder(context), 'copy.parquet');
  writeFileSync(copy, readFileSync(path));
  const again = await service.import({ job: 'again', path: copy });
  assert.match(
    again.warnings.find(({ code }) => code === 'known_content')?.message ?? '',
    /^copy\.parquet has the same content as names\.parquet/,
  );
});
