// What makes results look better than they are although rows are split by time or by group: each is said with its figure and what
// to do, and tables without it are left alone.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { shiftFinder } from '../../../engine/data/schema/shifts.ts';
import type { DatasetInfo, DatasetSettings } from '../../../engine/protocol/data.ts';
import { expectedCounts, fewTestedText, foldsText, usualFolds } from '../../../engine/protocol/use.ts';
import { codes, importFile, writeTable } from './helpers.ts';

type Cell = string | number;

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

async function described(
  context: TestContext,
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  settings: DatasetSettings,
): Promise<DatasetInfo> {
  const text = `${[names, ...rows].map((row) => row.join()).join('\n')}\n`;
  return (await importFile(context, writeTable(context, 'table.csv', text), {}, settings)).info;
}

const said = ({ warnings }: DatasetInfo, code: string): readonly string[] =>
  warnings.filter((one) => one.code === code).map(({ message }) => message);

const day = (index: number): string => new Date(Date.UTC(2022, 0, 1 + index)).toISOString().slice(0, 10);

/** 60 patients of two wards, each patient with visits; the outcome is the patient's own. */
function visits(): { readonly names: readonly string[]; readonly rows: readonly (readonly Cell[])[] } {
  const next = random(5);
  const wards = Array.from({ length: 60 }, () => Math.floor(next() * 6));
  const rows = Array.from({ length: 480 }, (_, index) => {
    const patient = Math.floor(next() * 60);
    return [
      `P${100 + patient}`,
      // Three of a hundred names are misspelt.
      index % 33 === 0 ? `name ${index}` : `name ${patient}`,
      `V${patient}-${Math.floor(next() * 3)}`,
      `W${wards[patient]}`,
      next().toFixed(4),
      patient % 3 === 0 ? 'ill' : 'well',
    ];
  });
  return { names: ['patient_id', 'called', 'visit_id', 'ward', 'level', 'state'], rows };
}

test('split by group: a column that names it again, an owner of several, and one target a group', async (context) => {
  const { names, rows } = visits();
  const types = { called: 'category', visit_id: 'category' } as const;
  const byChance = await described(context, names, rows, { target: 'state', types });
  assert.match(
    said(byChance, 'group_split')[0] ?? '',
    /^Several rows share a (visit_id|patient_id) \(480 rows, \d+ different ones: [\d.]+ each\).* Knowing (visit_id|patient_id) tells 100 % of how state varies\./,
  );
  const byPatient = await described(context, names, rows, {
    target: 'state',
    types,
    splitBy: { kind: 'group', column: 'patient_id' },
  });
  assert.deepEqual(said(byPatient, 'leak'), [
    'visit_id gives state away: its first 3 letters tell it by themselves (balanced accuracy 1). Leave it out unless it is known before the prediction is needed.',
    'called names patient_id again (one stands for one in 96 % of the rows): a model learns from it the groups it has seen, and is tested on others. Leave it out.',
  ]);
  assert.match(
    said(byPatient, 'group_target')[0] ?? '',
    /^All rows of a patient_id have the same state: 480 rows are as good as 60 examples/,
  );
  assert.deepEqual(said(byPatient, 'group_split'), []);
  const byVisit = await described(context, names, rows, {
    target: 'state',
    types,
    splitBy: { kind: 'group', column: 'visit_id' },
  });
  assert.match(
    said(byVisit, 'group_split')[0] ?? '',
    /^Each visit_id belongs to one patient_id, which has [\d.]+ of them on average: the same patient_id is learned from and tested on\. Split by patient_id/,
  );
});

test('copies of rows in other groups and in the test period are counted', async (context) => {
  const next = random(3);
  const plain = Array.from({ length: 300 }, (_, index) => [
    `S${index % 30}`,
    day(index),
    next().toFixed(5),
    next().toFixed(5),
    (next() * 10).toFixed(3),
  ]);
  const copied = [...plain, ...plain.slice(0, 24).map(([, , ...rest], index) => ['S31', day(300 + index), ...rest])];
  const names = ['shop', 'date', 'a', 'b', 'sales'];
  const by = (kind: 'time' | 'group', column: string): DatasetSettings => ({
    target: 'sales',
    ignored: kind === 'group' ? ['date'] : ['shop'],
    splitBy: { kind, column },
  });
  assert.match(
    said(await described(context, names, copied, by('group', 'shop')), 'duplicates')[0] ?? '',
    /^24 rows repeat earlier ones in the columns used: 48 rows have a copy in another shop/,
  );
  assert.match(
    said(await described(context, names, copied, by('time', 'date')), 'duplicates')[0] ?? '',
    /^24 rows repeat earlier ones in the columns used but for date: 24 of the 32 rows of the test split repeat one that comes before it/,
  );
  for (const split of [by('group', 'shop'), by('time', 'date')]) {
    assert.deepEqual(codes((await described(context, names, plain, split)).warnings), []);
  }
});

test('copies in a table wider than one statement compares: rows that only the last column tells apart are none', async (context) => {
  const next = random(4);
  const coin = (): number => (next() < 0.5 ? 0 : 1);
  const names = [
    'one',
    'other',
    'before',
    'next',
    'beside',
    'copy_grids',
    ...Array.from({ length: 600 }, (_, at) => `c${at}`),
  ];
  const twins = Array.from({ length: 60 }, (_, index) => {
    const cells = names.map(coin);
    return [0, 1].map((last) => [`S${index % 20}`, ...cells, last, coin()]);
  });
  const all = ['shop', ...names, 'last', 'sold'];
  const settings: DatasetSettings = { target: 'sold', splitBy: { kind: 'group', column: 'shop' } };
  const copied = [...twins.flat(), ...twins.slice(0, 25).map(([row = []]) => ['S31', ...row.slice(1)])];
  assert.match(
    said(await described(context, all, copied, settings), 'duplicates')[0] ?? '',
    /^25 rows repeat earlier ones in the columns used: 50 rows have a copy in another shop/,
  );
  assert.deepEqual(said(await described(context, all, twins.flat(), settings), 'duplicates'), []);
});

test('split by time: later dates, the target of later rows, totals; earlier targets are fair', async (context) => {
  const next = random(8);
  const amounts = Array.from({ length: 400 }, () => Math.round(next() * 1000));
  let total = 0;
  const rows = Array.from({ length: 398 }, (_, at) => {
    const index = at + 1;
    total += amounts[index] as number;
    return [
      day(index),
      day(index + 2 + Math.floor(next() * 30)),
      amounts[index - 1] as number,
      amounts[index + 1] as number,
      total,
      next().toFixed(4),
      amounts[index] as number,
    ];
  });
  const names = ['ordered', 'returned', 'yesterday', 'tomorrow', 'year_to_date', 'noise', 'amount'];
  const info = await described(context, names, rows, {
    target: 'amount',
    splitBy: { kind: 'time', column: 'ordered' },
  });
  const leaks = said(info, 'leak');
  assert.equal(leaks.length, 3, leaks.join('\n'));
  assert.match(leaks[0] ?? '', /^returned lies after ordered in 100 % of the rows, by 1\d days in the middle one/);
  assert.match(leaks[1] ?? '', /^tomorrow gives amount away: it is the amount of the next row in the order of ordered/);
  assert.match(leaks[2] ?? '', /^year_to_date gives amount away: it grows by the row's own amount/);
});

test('rows of several machines follow each other machine by machine', async (context) => {
  const next = random(12);
  const rows = Array.from({ length: 90 }, (_, at) => at).flatMap((at) =>
    ['M1', 'M2', 'M3', 'M4'].map((machine) => ({ machine, at, broke: next() < 0.3 ? 'yes' : 'no', x: next() })),
  );
  const cells = rows.map(({ machine, at, broke, x }, index) => [
    machine,
    day(at),
    rows[index + 8]?.broke ?? 'no',
    x.toFixed(4),
    broke,
  ]);
  const info = await described(context, ['machine', 'date', 'breaks_soon', 'x', 'breaks'], cells, {
    target: 'breaks',
    splitBy: { kind: 'time', column: 'date' },
  });
  assert.match(
    said(info, 'leak')[0] ?? '',
    /^breaks_soon gives breaks away: it is the breaks of 2 rows later in the order of date, each machine by itself/,
  );
});

test('a test period that is short beside the whole is said, and a target that drifts', async (context) => {
  const next = random(4);
  // The last tenth of the rows fell on two days.
  const rows = Array.from({ length: 400 }, (_, index) => [
    day(index < 358 ? index : 358 + (index % 2)),
    next().toFixed(4),
    (next() + (index >= 358 ? 2 : 0)).toFixed(4),
  ]);
  const names = ['date', 'x', 'price'];
  const info = await described(context, names, rows, { target: 'price', splitBy: { kind: 'time', column: 'date' } });
  assert.match(
    said(info, 'short_test')[0] ?? '',
    /^The test split holds (one time|2 different times) of 360 of date \(about \d+ rows\)/,
  );
  const byChance = await described(context, names, rows, { target: 'price' });
  assert.match(
    said(byChance, 'time_split')[0] ?? '',
    /price drifts: 2\.\d+ on average in the latest tenth of the rows, 0\.6\d* before\. Split by time/,
  );
  const even = rows.map(([date, x]) => [date, x, next().toFixed(4)] as const);
  assert.doesNotMatch(
    said(await described(context, names, even, { target: 'price' }), 'time_split')[0] ?? '',
    /drifts/,
  );
});

test('a target that hardly changes agrees with nothing by that', () => {
  const labels = Array.from({ length: 400 }, (_, row) => Math.floor(row / 40) % 2);
  const next = Int32Array.from(labels, (_, row) => (row + 1 < labels.length ? row + 1 : -1));
  const lagged = labels.map((_, row) => labels[row - 1] ?? 0);
  const shiftOf = shiftFinder(labels, next);
  assert.deepEqual([shiftOf(labels), shiftOf(lagged)], [null, null]);
});

test('a number that counts the rows is no total of a target that is mostly 1', () => {
  const labels = Array.from({ length: 400 }, (_, row) => (row % 7 === 3 ? 0 : 1));
  const next = Int32Array.from(labels, (_, row) => (row + 1 < labels.length ? row + 1 : -1));
  let sum = 0;
  const totals = labels.map((label) => (sum += label));
  const shiftOf = shiftFinder(labels, next);
  assert.deepEqual([shiftOf(labels.map((_, row) => row)), shiftOf(totals)?.kind], [null, 'total']);
});

test('an identifier that comes again is offered as a group, and its reason is true', async (context) => {
  const next = random(6);
  const rows = Array.from({ length: 400 }, () => [
    `K${Math.floor(next() * 300)}x`,
    next().toFixed(4),
    next() < 0.5 ? 'a' : 'b',
  ]);
  const info = await described(context, ['Artikel', 'x', 'y'], rows, { target: 'y' });
  const { type, reason = '', distinct = 0 } = info.columns[0] ?? {};
  assert.equal(type, 'identifier');
  assert.equal(reason, `${distinct} different values in 400 rows: too many for categories`);
  assert.deepEqual(info.warnings.find(({ code }) => code === 'group_split')?.columns, ['Artikel']);
});

test('a test split of few rows: how uncertain it is, and what folds would do', () => {
  const of = (test: number) => ({ train: 8 * test, validation: test, test });
  assert.equal(
    fewTestedText(of(34), 'classification'),
    'About 34 rows test the model: an accuracy of so few is uncertain by up to ± 17 points. Cross-validation in 5 folds tests all 340 rows, in about five times the time.',
  );
  assert.match(
    fewTestedText(of(100), 'regression') ?? '',
    /a root mean square error of so few is uncertain by about ± 14 %/,
  );
  assert.deepEqual([fewTestedText(of(300), 'regression'), fewTestedText(of(1), 'regression')], [null, null]);
});

test('the splits that are expected have all rows, none more', () => {
  for (const split of [undefined, [0.7, 0.15, 0.15], [0.9, 0.1, 0]] as const) {
    for (let rows = 3; rows < 60; rows++) {
      const { train, validation, test } = expectedCounts(
        { rows, columns: [], target: null, image: undefined },
        { split },
      );
      assert.equal(train + validation + test, rows, `${rows} rows by ${split?.join()}`);
      assert.ok(Math.min(train, validation, test) >= 0);
      if (split?.[2] === 0) assert.equal(test, 0);
    }
  }
  const { train, validation, test } = expectedCounts({ rows: 37, columns: [], target: null, image: undefined }, {});
  assert.deepEqual([train, validation, test], [30, 3, 4]);
});

test('folds are what a run of few rows begins with, where each fold would have some of every class and group', () => {
  const of = (rows: number) => ({ train: 0.8 * rows, validation: 0.1 * rows, test: 0.1 * rows });
  const two = (rare: number) => [
    { name: 'common', count: 400 },
    { name: 'rare', count: rare },
  ];
  const columns = [
    { name: 'ward', distinct: 12 },
    { name: 'town', distinct: 4 },
  ];
  const about = (changes: object): Parameters<typeof usualFolds>[0] =>
    ({ kind: 'table', task: 'classification', classes: two(10), columns, settings: {}, ...changes }) as never;
  const by = (kind: string, column: string): object => ({ settings: { splitBy: { kind, column } } });
  for (const [changes, rows, wanted] of [
    [{}, 500, 5],
    [{}, 3_740, 5],
    [{}, 3_750, undefined],
    [{}, 10, undefined],
    [{ classes: two(9) }, 500, undefined],
    [{ task: 'regression', classes: [] }, 500, 5],
    [{ kind: 'images' }, 500, undefined],
    [by('group', 'ward'), 500, 5],
    [by('group', 'town'), 500, undefined],
    [by('time', 'ward'), 500, undefined],
  ] as const)
    assert.equal(usualFolds(about(changes), of(rows)), wanted, JSON.stringify([changes, rows]));
  assert.equal(usualFolds(about({}), { train: 400, validation: 100, test: 0 }), undefined);
  assert.equal(
    foldsText(of(340), 5),
    '5 folds test all 340 rows, each by a model that did not learn from it, instead of about 34. The run predicts as the mean of the 5 models.',
  );
});
