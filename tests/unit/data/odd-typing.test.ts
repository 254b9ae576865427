// Numbers, dates and yes/no as people write them, and what is said about them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sniffNumberSpelling } from '../../../engine/data/schema/numbers.ts';
import { codes, columnOf, importFile, makeService, writeTable } from './helpers.ts';

const rowCount = 48;

/** A table of one column a writing; `write` gets 0, 1, 2, … */
function tableOf(columns: Readonly<Record<string, (row: number) => string>>, rows = rowCount): string {
  const lines = Array.from({ length: rows }, (_, row) =>
    Object.values(columns)
      .map((write) => write(row))
      .join('\t'),
  );
  return `${[Object.keys(columns).join('\t'), ...lines].join('\n')}\n`;
}

const group = (value: number, mark: string): string => value.toLocaleString('en').replaceAll(',', mark);

const numbers: Readonly<Record<string, readonly [write: (row: number) => string, least: number, most: number]>> = {
  dollar: [(row) => `$${(row * 1.25).toFixed(2)}`, 0, 58.75],
  pounds: [(row) => `£${group(row * 1000, ',')}.50`, 0.5, 47000.5],
  euro: [(row) => `${group(row * 1000, '.')},50 €`, 0.5, 47000.5],
  code: [(row) => `USD ${row * 2}`, 0, 94],
  percent: [(row) => `${row / 2} %`, 0, 23.5],
  accounting: [(row) => (row % 3 === 0 ? `(${row * 100})` : `${row * 100}`), -4500, 4700],
  loss: [(row) => (row % 3 === 0 ? `$(${group(row * 1234, ',')}.00)` : `$${group(row * 1234, ',')}.00`), -55530, 57998],
  spaces: [(row) => group(row * 12345, ' '), 0, 580215],
  narrow: [(row) => group(row * 12345, '\u202f'), 0, 580215],
  apostrophes: [(row) => group(row * 12345, '’'), 0, 580215],
  minus: [(row) => `\u2212${row}`, -47, 0],
  behind: [(row) => `${row}-`, -47, 0],
  mostly: [(row) => (row === 7 ? '$9 (est.)' : `$${row}`), 0, 47],
};

test('numbers with currencies, percent signs, brackets and marks between thousands', async (context) => {
  const columns = Object.fromEntries(Object.entries(numbers).map(([name, [write]]) => [name, write]));
  const { service, info } = await importFile(context, writeTable(context, 'numbers.tsv', tableOf(columns)));
  for (const [name, [, least, most]] of Object.entries(numbers)) {
    const { type, minimum, maximum, reason } = columnOf(info, name);
    assert.deepEqual([type, minimum, maximum], ['number', least, most], `${name}: ${reason}`);
  }
  assert.match(columnOf(info, 'pounds').reason, /48 numbers with "£" and commas between thousands/);
  // The recipe keeps the way of writing: the same file is read the same.
  const settings = { target: 'dollar' };
  const options = { settings, seed: 1 };
  const made = await service.prepare({ job: 'p', dataset: info.id, options });
  const path = writeTable(context, 'again.tsv', tableOf(columns));
  const again = await service.transform({ job: 't', path, preprocessing: made.preprocessing });
  const { x } = await service.readShard({ handle: again.handle, shard: 0 });
  assert.ok(x.every((value) => Number.isFinite(value)));
  const spread = new Set(Array.from(x).map((value) => value.toFixed(3)));
  assert.ok(spread.size > 40, 'values come through');
});

test('what only looks like such numbers stays what it is', () => {
  const sniff = (...values: string[]): unknown => sniffNumberSpelling(values, { mark: '.', certain: false });
  assert.equal(sniff('$5', '€5', '$7'), null, 'two currencies');
  assert.equal(sniff('5 %', '0.3', '7 %', '0.5'), null, 'shares and percent');
  assert.equal(sniff('612 345 678', '698 765 432', '611 222 333', '600 100 200'), null, 'telephone numbers');
  assert.equal(sniff('012 345', '012 346'), null, 'a leading zero');
  assert.equal(sniff('1', '2.5', 'x'), null, 'plain numbers');
});

test('a 1,234 is what the rest of the file says', async (context) => {
  const points = await importFile(
    context,
    writeTable(context, 'p.csv', 'a,b\n0.5,"$1,234"\n1.5,"$2,500"\n2.5,"$9,000"\n'),
  );
  assert.equal(columnOf(points.info, 'b').maximum, 9000);
  const commas = await importFile(
    context,
    writeTable(context, 'c.csv', 'a;b\n0,5;1,234 €\n1,5;2,500 €\n2,5;9,000 €\n'),
  );
  assert.equal(columnOf(commas.info, 'b').maximum, 9);
});

const start = Date.UTC(2020, 0, 31, 1, 7);
const at = (row: number): Date => new Date(start + row * 37 * 86_400_000 + row * 3_600_000);
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const pad = (value: number): string => String(value).padStart(2, '0');
const clock = (date: Date): string => [date.getUTCHours(), date.getUTCMinutes(), 0].map(pad).join(':');
const parts = (row: number): readonly [date: Date, year: number, month: number, day: number] => {
  const date = at(row);
  return [date, date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
};
const midnight = Date.UTC(2020, 0, 31);

const dates: Readonly<Record<string, readonly [write: (row: number) => string, first: number]>> = {
  words: [(row) => (([, y, m, d]) => `${months[m - 1]} ${d} ${y}`)(parts(row)), midnight],
  british: [(row) => (([, y, m, d]) => `${pad(d)} ${months[m - 1]} ${y}`)(parts(row)), midnight],
  american: [
    (row) =>
      (([date, y, m, d]) => {
        const hour = date.getUTCHours();
        return `${pad(m)}/${pad(d)}/${y} ${pad(hour % 12 || 12)}:${pad(date.getUTCMinutes())} ${hour < 12 ? 'AM' : 'PM'}`;
      })(parts(row)),
    start,
  ],
  month: [(row) => (([, y, m]) => `${y}-${pad(m)}`)(parts(row)), Date.UTC(2020, 0)],
  quarter: [(row) => (([, y, m]) => `${y}Q${Math.ceil(m / 3)}`)(parts(row)), Date.UTC(2020, 0)],
  mail: [
    (row) =>
      (([date, y, m, d]) => `${days[date.getUTCDay()]}, ${d} ${months[m - 1]} ${y} ${clock(date)} +0100`)(parts(row)),
    start - 3_600_000,
  ],
  dots: [(row) => (([, y, m, d]) => `${y}.${pad(m)}.${pad(d)}`)(parts(row)), midnight],
  packedTime: [
    (row) =>
      at(row)
        .toISOString()
        .replaceAll(/[-:]|\.000/g, ''),
    start,
  ],
};

test('dates as people write them', async (context) => {
  const columns = {
    ...Object.fromEntries(Object.entries(dates).map(([name, [write]]) => [name, write])),
    time: (row: number) => `${pad(row % 24)}:05:00`,
  };
  const { info } = await importFile(context, writeTable(context, 'dates.tsv', tableOf(columns)));
  for (const [name, [, first]] of Object.entries(dates)) {
    const { type, minimum, reason } = columnOf(info, name);
    assert.deepEqual([type, minimum], ['datetime', first], `${name}: ${reason}`);
  }
  const { type, minimum = 0, maximum = 0, reason } = columnOf(info, 'time');
  assert.deepEqual([type, maximum - minimum], ['datetime', 23 * 3_600_000], reason);
});

test('20230114 stays a number and may be a date', async (context) => {
  const path = writeTable(context, 'packed.tsv', tableOf({ day: (row) => `202301${pad(1 + (row % 28))}`, y: String }));
  const { service, info } = await importFile(context, path);
  assert.equal(columnOf(info, 'day').type, 'number');
  assert.ok(codes(info.warnings).includes('packed_dates'));
  const chosen = await service.describe({ dataset: info.id, settings: { types: { day: 'datetime' } } });
  assert.equal(columnOf(chosen, 'day').minimum, Date.UTC(2023, 0, 1));
  assert.equal(columnOf(chosen, 'day').maximum, Date.UTC(2023, 0, 28));
});

test('day or month first: all rows decide, then the other columns; else it is said', async (context) => {
  const either = (row: number): string => `${pad(1 + (row % 12))}/${pad(1 + ((row * 5) % 12))}/2021`;
  const alone = await importFile(context, writeTable(context, 'alone.tsv', tableOf({ when: either, y: String })));
  const warning = alone.info.warnings.find(({ code }) => code === 'ambiguous_dates');
  assert.match(warning?.message ?? '', /when may have the day or the month first.*read as month\/day\/year/);
  const sure = (row: number): string => `${pad(1 + (row % 28))}/${pad(1 + ((row * 5) % 12))}/2021`;
  const both = await importFile(context, writeTable(context, 'both.tsv', tableOf({ when: either, sure, y: String })));
  assert.match(columnOf(both.info, 'when').reason, /day\/month\/year/);
  assert.match(columnOf(both.info, 'sure').reason, /day\/month\/year/);
  // What settles it stands below the rows that are looked at first.
  const late = (row: number): string => (row === 7000 ? '25/01/2021' : either(row));
  const long = await importFile(context, writeTable(context, 'late.tsv', tableOf({ when: late, y: String }, 7100)));
  assert.match(columnOf(long.info, 'when').reason, /day\/month\/year/);
  assert.ok(!codes(long.info.warnings).includes('ambiguous_dates'));
});

test('yes and no in any case', async (context) => {
  const word = (words: readonly string[]) => (row: number) => words[row % words.length] ?? '';
  const columns = {
    a: word(['True', 'FALSE', 'true', 'False']),
    b: word(['Yes', 'no', 'YES', 'No']),
    c: word(['y', 'N']),
  };
  const { info } = await importFile(context, writeTable(context, 'flags.tsv', tableOf(columns)));
  for (const { name, type, distinct } of info.columns) assert.deepEqual([type, distinct], ['boolean', 2], name);
});

test('different values of long columns are counted within 2 %', async (context) => {
  let state = 7;
  const random = (): number => (state = (state * 48271) % 2147483647);
  const kinds = { few: 3000, some: 40_000, many: 150_000 };
  const seen = new Map(Object.keys(kinds).map((name) => [name, new Set<number>()]));
  const columns = Object.fromEntries(
    Object.entries(kinds).map(([name, count]) => [
      name,
      () => {
        const value = random() % count;
        seen.get(name)?.add(value);
        return name === 'some' ? `w${value}` : String(value);
      },
    ]),
  );
  const { info } = await importFile(context, writeTable(context, 'distinct.tsv', tableOf(columns, 200_000)));
  for (const name of Object.keys(kinds)) {
    const actual = seen.get(name)?.size ?? 0;
    const { distinct } = columnOf(info, name);
    assert.ok(Math.abs(distinct - actual) <= actual * 0.02, `${name}: ${distinct} for ${actual}`);
  }
});

test('numbers that cannot be computed with, and a column with one value', async (context) => {
  const columns = {
    a: (row: number) => (row === 5 ? '1e200' : String(row)),
    b: (row: number) => (row === 9 ? 'only' : ''),
    c: (row: number) => String(1e9 + (row % 5) * 1e-7),
    y: (row: number) => String(1e9 + row * 3.5),
  };
  const { info } = await importFile(context, writeTable(context, 'huge.tsv', tableOf(columns)), {}, { target: 'y' });
  assert.deepEqual([columnOf(info, 'a').missing, columnOf(info, 'a').maximum], [1, 47]);
  assert.match(info.warnings.find(({ code }) => code === 'huge')?.message ?? '', /a holds 1 value beyond 1e\+?150/);
  assert.notEqual(columnOf(info, 'b').type, 'identifier');
  const leaks = info.warnings.filter(({ code }) => code === 'leak').map(({ message }) => message);
  assert.equal(leaks.length, 1);
  assert.match(leaks[0] ?? '', /a gives y away: their correlation is 1\.0000/);
});

test('long values are texts, however few there are; of texts only the beginning is listed', async (context) => {
  const rows = Array.from({ length: 6 }, (_, row) => `${'x'.repeat(2000)}${row},k${row % 2}`);
  const { info } = await importFile(context, writeTable(context, 'long.csv', `said,kind\n${rows.join('\n')}\n`));
  const said = columnOf(info, 'said');
  assert.deepEqual([said.type, said.top?.[0].value.length, said.lengths?.words.maximum], ['text', 200, 1]);
  assert.match(said.reason, /^6 different texts of 2,001 characters on average/);
  assert.deepEqual(
    columnOf(info, 'kind').top?.map(({ value }) => value),
    ['k0', 'k1'],
  );
});

test('a category that no name is so long of is refused', async (context) => {
  const rows = Array.from(
    { length: 1500 },
    (_, row) => `${row === 700 ? 'z'.repeat(1_100_000) : `k${row % 5}`},${row}`,
  );
  await assert.rejects(importFile(context, writeTable(context, 'stray.csv', `kind,x\n${rows.join('\n')}\n`)), {
    code: 'input.long_value',
    message: /stray\.csv: a value of kind has 1,100,000 characters/,
  });
});

test('a column of prices with remarks is no identifier', async (context) => {
  const path = writeTable(
    context,
    'prices.tsv',
    tableOf({ price: (row) => (row % 4 === 0 ? 'on request' : `${row}.95`), y: String }, 400),
  );
  const { info } = await importFile(context, path);
  assert.deepEqual([columnOf(info, 'price').type, columnOf(info, 'price').missing], ['number', 100]);
  assert.match(
    info.warnings.find(({ code }) => code === 'not_numbers')?.message ?? '',
    /100 values that are no numbers \("on request"\)/,
  );
});

test('a split that leaves too little is told as such', async (context) => {
  const service = makeService(context);
  const path = writeTable(
    context,
    'long.tsv',
    tableOf({ a: String, b: (row) => String(row % 7), y: (row) => String(row % 2) }, 3000),
  );
  const info = await service.import({ job: 'i', path });
  const options = { settings: { split: [0.9999, 0.00005, 0.00005] as const }, seed: 1 };
  await assert.rejects(service.prepare({ job: 'p', dataset: info.id, options }), {
    code: 'input.too_few_rows',
    message: /A split of 100 % \/ 0\.005 % \/ 0\.005 % leaves too little of 3,000 rows for validation and test/,
  });
});
