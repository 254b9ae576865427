// What looking for leaks costs on a long, wide table, counted: a sample rules out nearly every column before all rows are read, and what
// is true of all rows is found as before.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DuckDBConnection } from '@duckdb/node-api';
import { importFile, writeTable } from './helpers.ts';

const rows = 40_000;
const groups = 2_000;
const noise = 20;

function text(): string {
  let state = 7;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const names = [
    'patient_id',
    'called',
    'clinic_id',
    'other_id',
    ...Array.from({ length: noise }, (_, at) => `c${at}`),
  ];
  const lines = Array.from({ length: rows }, (_, row) => {
    const group = row % groups;
    const called = random() < 0.97 ? `N${group}` : `N${Math.floor(random() * groups)}`;
    const clinic = `K${Math.floor(group / 50)}`;
    const cells = Array.from({ length: noise }, (_, at) => `v${Math.floor(random() * (5 + 20 * at))}`);
    return [`P${group}`, called, clinic, `O${Math.floor(random() * 30)}`, ...cells, random().toFixed(4)].join();
  });
  return `${[[...names, 'outcome'].join(), ...lines].join('\n')}\n`;
}

test('columns unlike a group are ruled out by a sample; its twin and its owner are still found', async (context) => {
  const { service, info } = await importFile(context, writeTable(context, 'long.csv', text()));
  const asked: string[] = [];
  const { runAndReadAll } = DuckDBConnection.prototype;
  context.mock.method(DuckDBConnection.prototype, 'runAndReadAll', function (this: DuckDBConnection, sql: string) {
    asked.push(sql);
    return runAndReadAll.call(this, sql);
  });
  const { warnings } = await service.describe({
    dataset: info.id,
    settings: { target: 'outcome', splitBy: { kind: 'group', column: 'patient_id' } },
  });
  const said = (code: string): readonly string[] =>
    warnings.filter((one) => one.code === code).map(({ columns = [] }) => columns.join());
  assert.deepEqual([said('leak'), said('group_split')], [['called'], ['clinic_id']]);
  const compared = asked.filter((sql) => sql.includes('of_group'));
  const whole = compared.filter((sql) => !sql.includes('held_groups'));
  assert.equal(whole.length, 2, `of ${compared.length} comparisons`);
  assert.ok(compared.length > noise);
});

test('an import with settings looks for leaks under them once, and once without', async (context) => {
  const asked: string[] = [];
  const { runAndReadAll } = DuckDBConnection.prototype;
  context.mock.method(DuckDBConnection.prototype, 'runAndReadAll', function (this: DuckDBConnection, sql: string) {
    asked.push(sql);
    return runAndReadAll.call(this, sql);
  });
  const lines = Array.from(
    { length: 100 },
    (_, row) => `${(row * 37) % 101},${(row * 53) % 97},${row % 2 ? 'a' : 'b'}`,
  );
  await importFile(context, writeTable(context, 'short.csv', `x,y,z\n${lines.join('\n')}\n`), {}, { target: 'z' });
  assert.equal(asked.filter((sql) => sql.includes('hash(place)')).length, 2);
});
