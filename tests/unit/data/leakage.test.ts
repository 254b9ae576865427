// What makes results look better than they are: copies under other identifiers, features that tell the target in ways a
// correlation does not show, rows split by chance that belong together in time or by group.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import type { DatasetInfo, DatasetSettings, PreparedData } from '../../../engine/protocol/data.ts';
import { codes, importFile, writeTable } from './helpers.ts';
import type { TestService } from './helpers.ts';

/** Numbers between 0 and 1 that are the same each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
}

type Cell = string | number;

async function importRows(
  context: TestContext,
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  settings: DatasetSettings,
): Promise<{ service: TestService; info: DatasetInfo }> {
  const text = `${[names, ...rows].map((row) => row.join()).join('\n')}\n`;
  return importFile(context, writeTable(context, 'table.csv', text), {}, settings);
}

function prepare(service: TestService, info: DatasetInfo, settings: DatasetSettings): Promise<PreparedData> {
  return service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 3 } });
}

/** Rows of one split: x. */
async function rowsOf(service: TestService, data: PreparedData, split: 'train' | 'validation' | 'test') {
  const { x } = await service.readShard({ handle: data.handle, shard: 0 });
  const rows: number[][] = [];
  for (let at = 0; at < x.length; at += data.width) rows.push([...x.slice(at, at + data.width)]);
  const { train, validation } = data.counts;
  const [start, end] = {
    train: [0, train],
    validation: [train, train + validation],
    test: [train + validation, rows.length],
  }[split] as [number, number];
  return rows.slice(start, end);
}

test('copies under another identifier, a little off, stay in one split', async (context) => {
  const next = random(7);
  const originals = Array.from({ length: 200 }, () => [
    ...Array.from({ length: 6 }, () => normal(next)),
    next() < 0.5 ? 'head' : 'tail',
  ]);
  const rows = [...originals, ...originals, ...originals].map((row, index) => [
    `id-${index}`,
    ...row.map((cell) =>
      typeof cell === 'number' ? (cell + (index >= 200 ? 1e-6 * next() : 0)).toFixed(index >= 400 ? 4 : 9) : cell,
    ),
  ]);
  const names = ['id', 'a', 'b', 'c', 'd', 'e', 'f', 'coin'];
  const { service, info } = await importRows(context, names, rows, { target: 'coin' });
  const warning = info.warnings.find(({ code }) => code === 'duplicates');
  const repeated = Number(
    /^(\d+) rows repeat earlier ones in the columns used: copies are kept/.exec(warning?.message ?? '')?.[1],
  );
  assert.ok(repeated >= 396 && repeated <= 400, warning?.message);
  const data = await prepare(service, info, { target: 'coin' });
  assert.match(data.warnings[0]?.message ?? '', /^(39\d|400) rows are copies of others/);
  const key = (row: readonly number[]): string => row.map((value) => value.toFixed(1)).join();
  const trained = new Set((await rowsOf(service, data, 'train')).map(key));
  const tested = await rowsOf(service, data, 'test');
  assert.ok(tested.length > 40);
  assert.deepEqual(tested.filter((row) => trained.has(key(row))).length <= 1, true);
  assert.ok(!codes(data.warnings).includes('shared_rows'));
});

test('rows in even steps are neighbours, no copies', async (context) => {
  const rows = Array.from({ length: 200 }, (_, index) => [
    index + 0.5,
    index * 2,
    (index / 7).toFixed(9),
    'PQ'[index % 2] ?? '',
  ]);
  const names = ['a', 'b', 'c', 'y'];
  const { info } = await importRows(context, names, rows, { target: 'y' });
  assert.ok(!codes(info.warnings).includes('duplicates'));
  const doubled = rows.flatMap((row) => [
    row,
    row.map((cell) => (typeof cell === 'number' ? cell * (1 + 1e-9) : cell)),
  ]);
  const copied = await importRows(context, names, doubled, { target: 'y' });
  const warning = copied.info.warnings.find(({ code }) => code === 'duplicates');
  assert.match(warning?.message ?? '', /^(19\d|200) rows repeat earlier ones/);
});

test('rows that are alike because columns say little are no copies', async (context) => {
  const rows = Array.from({ length: 300 }, (_, index) => [
    index % 3,
    'xy'[index % 2] ?? '',
    'yn'[(index >> 1) % 2] ?? '',
  ]);
  const { service, info } = await importRows(context, ['a', 'b', 'y'], rows, { target: 'y' });
  assert.match(
    info.warnings.find(({ code }) => code === 'duplicates')?.message ?? '',
    /these allow few combinations \(12\)/,
  );
  const { counts, warnings } = await prepare(service, info, { target: 'y' });
  assert.deepEqual([counts, codes(warnings)], [{ train: 240, validation: 30, test: 30 }, []]);
});

test('one small tree a feature finds what tells the target by itself', async (context) => {
  const next = random(11);
  const rows = Array.from({ length: 600 }, () => {
    const score = next();
    const yes = score > 0.5;
    return [
      score.toFixed(5),
      yes ? Math.ceil(next() * 50) : '',
      `${yes ? 'K' : 'M'}${Math.floor(next() * 1000)}`,
      (score + 0.25 * normal(next)).toFixed(5),
      next().toFixed(5),
      ['north', 'south', 'east'][Math.floor(next() * 3)] ?? '',
      yes ? 'yes' : 'no',
    ];
  });
  const names = ['score', 'refund', 'ticket', 'hint', 'noise', 'side', 'y'];
  const { info } = await importRows(context, names, rows, { target: 'y', types: { ticket: 'category' } });
  const leaks = info.warnings.filter(({ code }) => code === 'leak');
  assert.deepEqual(
    leaks.map(({ columns }) => columns?.[0]),
    ['score', 'refund', 'ticket'],
  );
  assert.match(
    leaks[0]?.message ?? '',
    /^score gives y away: one small tree on it tells it by itself \(balanced accuracy (1|0\.99\d*)\)\. Leave it out/,
  );
  assert.match(
    leaks[1]?.message ?? '',
    /^refund gives y away: it is filled in for one class of y only \(100 % of its rows\)/,
  );
  assert.match(leaks[2]?.message ?? '', /^ticket gives y away: its first letter tells it by itself/);
});

test('a log and a cube of the target are found, honest features are not', async (context) => {
  const next = random(5);
  const rows = Array.from({ length: 500 }, () => {
    const y = 10 + 3 * normal(next);
    return [
      Math.log(y + 20).toFixed(6),
      (y ** 3).toFixed(3),
      (y + normal(next)).toFixed(4),
      next().toFixed(4),
      y.toFixed(5),
    ];
  });
  const { info } = await importRows(context, ['log', 'cube', 'near', 'noise', 'y'], rows, { target: 'y' });
  const leaks = info.warnings.filter(({ code }) => code === 'leak').flatMap(({ columns }) => columns ?? []);
  assert.deepEqual(leaks.sort(), ['cube', 'log']);
});

test('a log is found where the largest targets hide it: ranks are compared, too', async (context) => {
  for (const deviation of [0.6, 1]) {
    const next = random(17);
    const rows = Array.from({ length: 3000 }, () => {
      const y = Math.exp(deviation * normal(next));
      // What merely follows the target closely does not give it away.
      const close = Math.log(y) + 0.1 * deviation * normal(next);
      return [Math.log(y), y ** 3, close, next(), y].map((value) => value.toFixed(7));
    });
    const names = ['log', 'cube', 'close', 'noise', 'y'];
    const { info } = await importRows(context, names, rows, { target: 'y' });
    const leaks = info.warnings.filter(({ code }) => code === 'leak');
    assert.deepEqual(leaks.flatMap(({ columns }) => columns ?? []).sort(), ['cube', 'log'], `deviation ${deviation}`);
    const how = new RegExp(deviation === 1 ? 'its order tells that of the target \\(R² of the ranks 0\\.99' : 'tells');
    assert.match(leaks.find(({ columns }) => columns?.[0] === 'log')?.message ?? '', how);
  }
});

test('a code that ends in its class gives it away', async (context) => {
  const next = random(19);
  const rows = Array.from({ length: 600 }, () => {
    const kind = 'ABC'[Math.floor(next() * 3)] ?? '';
    return [`${Math.floor(10_000 + next() * 90_000)}-${kind}`, next().toFixed(4), kind === 'C' ? 'closed' : 'open'];
  });
  const { info } = await importRows(context, ['code', 'noise', 'y'], rows, {
    target: 'y',
    types: { code: 'category' },
  });
  const [leak] = info.warnings.filter(({ code }) => code === 'leak');
  assert.match(leak?.message ?? '', /^code gives y away: its last letter tells it by itself/);
});

test('prices day by day: split by time, the latest rows test; by chance it is warned of', async (context) => {
  const next = random(3);
  let price = 100;
  const days = Array.from({ length: 400 }, (_, index) => {
    price += normal(next);
    const date = new Date(Date.UTC(2022, 0, 1 + index)).toISOString().slice(0, 10);
    return [date, normal(next).toFixed(4), price.toFixed(4)];
  });
  // In no order in the file.
  const rows = days.map((_, index) => days[(index * 149) % days.length] ?? []);
  const { service, info } = await importRows(context, ['date', 'noise', 'price'], rows, { target: 'price' });
  const warning = info.warnings.find(({ code }) => code === 'time_split');
  assert.deepEqual(warning?.columns, ['date']);
  const settings: DatasetSettings = { target: 'price', splitBy: { kind: 'time', column: 'date' } };
  const described = await service.describe({ dataset: info.id, settings });
  assert.ok(!codes(described.warnings).includes('time_split'));
  const data = await prepare(service, described, settings);
  assert.deepEqual(data.counts, { train: 320, validation: 40, test: 40 });
  const dates = async (split: 'train' | 'validation' | 'test'): Promise<number[]> =>
    (await rowsOf(service, data, split)).map(([date = 0]) => date);
  const [train, validation, tested] = [await dates('train'), await dates('validation'), await dates('test')];
  assert.ok(Math.max(...train) < Math.min(...validation) && Math.max(...validation) < Math.min(...tested));
  const still = days.map(([, noise = '', value = '']) => ['2020-01-01', noise, value]);
  const same = await importRows(context, ['date', 'noise', 'price'], still, { target: 'price' });
  await assert.rejects(prepare(same.service, same.info, settings), {
    code: 'input.too_few_times',
    message: 'The split cannot go by the time of date: it has the same time in all rows, too few for 3 splits.',
  });
  for (const [column, code] of [
    ['price', 'input.split_column'],
    ['dat', 'input.unknown_column'],
  ] as const) {
    const wrong: DatasetSettings = { target: 'price', splitBy: { kind: 'time', column } };
    await assert.rejects(service.describe({ dataset: info.id, settings: wrong }), { code });
  }
  const inOrder = await importRows(
    context,
    ['noise', 'price'],
    days.map(([, noise = 0, value = 0]) => [noise, value]),
    { target: 'price' },
  );
  const byPlace = await inOrder.service.describe({
    dataset: inOrder.info.id,
    settings: { target: 'price', splitBy: { kind: 'time', column: 'noise' } },
  });
  assert.deepEqual(codes(byPlace.warnings), []);
  assert.match(
    inOrder.info.warnings.find(({ code }) => code === 'row_order')?.message ?? '',
    /^Neighbouring rows are alike/,
  );
});

test('patients with several visits: split by group, none is in two splits', async (context) => {
  const next = random(9);
  const rows = Array.from({ length: 300 }, (_, index) => {
    const patient = index % 40;
    return [
      `P${patient}`,
      (patient + 0.1 + 0.8 * next()).toFixed(3),
      next().toFixed(3),
      patient % 2 === 0 ? 'ill' : 'well',
    ];
  });
  const names = ['patient_id', 'level', 'noise', 'state'];
  const { service, info } = await importRows(context, names, rows, { target: 'state' });
  assert.deepEqual(info.warnings.find(({ code }) => code === 'group_split')?.columns, ['patient_id']);
  const settings: DatasetSettings = { target: 'state', splitBy: { kind: 'group', column: 'patient_id' } };
  const data = await prepare(service, await service.describe({ dataset: info.id, settings }), settings);
  assert.ok(Math.abs(data.counts.train - 240) <= 15 && data.counts.validation > 10 && data.counts.test > 10);
  assert.deepEqual(data.leftOut, [{ column: 'patient_id', reason: 'group' }]);
  // The level of patient n lies between n and n + 1; it is the first feature, standardised.
  const { features } = data.preprocessing as { features: { mean: number; deviation: number }[] };
  const { mean = 0, deviation = 1 } = features[0] ?? {};
  const patients = async (split: 'train' | 'validation' | 'test'): Promise<Set<number>> =>
    new Set((await rowsOf(service, data, split)).map(([level = 0]) => Math.floor(level * deviation + mean + 1e-6)));
  const [train, validation, tested] = [await patients('train'), await patients('validation'), await patients('test')];
  for (const patient of [...validation, ...tested]) assert.ok(!train.has(patient), `P${patient}`);
  assert.equal(train.size + validation.size + tested.size, 40);
  const few: DatasetSettings = { target: 'level', splitBy: { kind: 'group', column: 'state' } };
  await assert.rejects(prepare(service, await service.describe({ dataset: info.id, settings: few }), few), {
    code: 'input.too_few_groups',
  });
});
