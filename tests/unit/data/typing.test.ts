// What columns are taken for, and why; what counts as missing; profiles; and a person's say in all of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { sniffDateFormats } from '../../../engine/data/schema/dates.ts';
import { isNumber, sniffNumberStyle } from '../../../engine/data/schema/spelling.ts';
import { show } from '../../../engine/data/schema/typing.ts';
import { codes, columnOf, importFile, messy, samples, table, writeTable } from './helpers.ts';

test('each column of a mixed table gets its type, with a reason', async (context) => {
  const { info } = await importFile(context, messy('types.csv'));
  const types = Object.fromEntries(info.columns.map(({ name, type }) => [name, type]));
  assert.deepEqual(types, {
    id: 'identifier',
    flag: 'boolean',
    answer: 'boolean',
    zip: 'identifier',
    colour: 'category',
    size: 'number',
    comment: 'text',
    joined: 'datetime',
    score: 'number',
  });
  assert.equal(columnOf(info, 'flag').reason, 'only 0 and 1');
  assert.equal(columnOf(info, 'colour').reason, '3 different words in 40 rows');
  assert.match(columnOf(info, 'size').reason, /40 whole numbers, 4 of them distinct; choose category/);
  assert.match(columnOf(info, 'comment').reason, /40 different texts of 10 words/);
});

test('digits with leading zeros are codes', async (context) => {
  const { info } = await importFile(context, messy('leading-zeros.csv'));
  assert.equal(columnOf(info, 'zip').type, 'category');
  assert.match(columnOf(info, 'zip').reason, /codes, not amounts/);
  assert.ok(columnOf(info, 'zip').top?.some(({ value }) => value === '01117'));
});

test('spellings of "missing" among numbers', async (context) => {
  const { info } = await importFile(context, messy('missing-spellings.csv'));
  const age = columnOf(info, 'age');
  assert.deepEqual([age.type, age.missing, age.minimum], ['number', 10, 30]);
});

test('"None", "-" and "NA" among words may be values; "?" is not', async (context) => {
  const { info } = await importFile(context, messy('category-none.csv'));
  const [garage, sign, country, grade] = ['garage', 'sign', 'country', 'grade'].map((name) => columnOf(info, name));
  assert.deepEqual([garage?.distinct, garage?.missing], [3, 0]);
  assert.match(garage?.reason ?? '', /"None" \(8\) is kept as a value/);
  assert.deepEqual([sign?.distinct, sign?.missing], [2, 0]);
  assert.match(country?.reason ?? '', /"NA" \(6\) is kept as a value: the other values are codes of two letters/);
  assert.deepEqual([grade?.distinct, grade?.missing], [2, 8]);
  assert.match(grade?.reason ?? '', /"\?" read as missing/);
});

test('dates in several spellings, with offsets', async (context) => {
  const { info } = await importFile(context, messy('dates.csv'));
  for (const name of ['iso', 'german', 'american', 'zoned', 'spelled']) {
    assert.equal(columnOf(info, name).type, 'datetime', name);
  }
  assert.match(columnOf(info, 'american').reason, /month\/day\/year/);
  assert.equal(columnOf(info, 'iso').minimum, Date.UTC(2021, 0, 1));
  assert.equal(columnOf(info, 'german').maximum, columnOf(info, 'iso').maximum);
  // 00:30+02:00 is half past ten of the evening before in UTC.
  assert.equal(columnOf(info, 'zoned').minimum, Date.UTC(2020, 11, 31, 22, 30));
});

test('infinities count as missing, and it is said', async (context) => {
  const { info } = await importFile(context, messy('infinite.csv'));
  const speed = columnOf(info, 'speed');
  assert.deepEqual([speed.missing, speed.maximum], [4, 29]);
  assert.match(info.warnings.find(({ code }) => code === 'infinite')?.message ?? '', /speed holds 4 infinite values/);
});

test('a few words among numbers count as missing, and it is said', async (context) => {
  const { info } = await importFile(context, messy('almost-numbers.csv'));
  assert.deepEqual([columnOf(info, 'age').type, columnOf(info, 'age').missing], ['number', 1]);
  const warning = info.warnings.find(({ code }) => code === 'not_numbers');
  assert.match(warning?.message ?? '', /1 value that is no number \("unknown"\)/);
});

test('profile of a number column', async (context) => {
  const { info } = await importFile(context, table('iris.csv'));
  const { minimum, maximum, mean = 0, deviation = 0, median, histogram = [] } = columnOf(info, 'sepal_length');
  assert.deepEqual([minimum, maximum, median], [4.3, 7.9, 5.8]);
  assert.ok(Math.abs(mean - 5.843333) < 1e-6);
  // As R's sd().
  assert.ok(Math.abs(deviation - 0.8280661) < 1e-6);
  assert.equal(histogram.length, 20);
  assert.equal(
    histogram.reduce((sum, count) => sum + count, 0),
    150,
  );
});

test('a histogram counts each value where it stands, even on the edge of two bins', async (context) => {
  const { info } = await importFile(context, table('breast_cancer.csv'));
  const [header = '', ...lines] = readFileSync(table('breast_cancer.csv'), 'utf8').trim().split(/\r?\n/);
  const names = header.split(',');
  for (const { name, type, minimum = 0, maximum = 0, median, histogram } of info.columns) {
    if (type !== 'number') continue;
    const values = lines.map((line) => Number(line.split(',')[names.indexOf(name)]));
    const edge = (bin: number): number => (bin === 20 ? maximum : minimum + ((maximum - minimum) * bin) / 20);
    const bins = Array.from({ length: 20 }, (_, bin) => values.filter((value) => bin === 0 || value > edge(bin)));
    const counts = bins.map((above, bin) => above.filter((value) => value <= edge(bin + 1)).length);
    assert.deepEqual(histogram, counts, name);
    assert.equal(median, values.sort((one, other) => one - other)[values.length >> 1], name);
  }
});

test('a histogram of numbers too near to each other for the reciprocal of their range', async (context) => {
  const { info } = await importFile(
    context,
    writeTable(context, 'tiny.csv', `x,y\n${'0,a\n5e-309,b\n1e-308,a\n'.repeat(20)}`),
  );
  const counts = columnOf(info, 'x').histogram ?? [];
  assert.deepEqual([counts[0], counts[9], counts[19]], [20, 20, 20]);
});

test('profile of a category column, missing values aside', async (context) => {
  const { info } = await importFile(context, `${samples}penguins.csv`);
  const sex = columnOf(info, 'sex');
  assert.deepEqual([sex.type, sex.missing, sex.distinct], ['category', 11, 2]);
  assert.deepEqual(sex.top, [
    { value: 'male', count: 168 },
    { value: 'female', count: 165 },
  ]);
});

test('types can be set; only what changes is measured again', async (context) => {
  const { service, info } = await importFile(context, messy('types.csv'));
  const described = await service.describe({
    dataset: info.id,
    settings: { types: { size: 'category', id: 'text', joined: 'category', flag: 'number' } },
  });
  const size = columnOf(described, 'size');
  assert.deepEqual([size.type, size.overridden], ['category', true]);
  assert.deepEqual(size.top?.map(({ value }) => value).sort(), ['1', '2', '3', '4']);
  assert.match(size.reason, /^chosen; it looked like number/);
  assert.equal(columnOf(described, 'flag').mean, 0.5);
  assert.equal(columnOf(described, 'joined').distinct, 28);
  assert.deepEqual(columnOf(described, 'score'), columnOf(info, 'score'));
});

test('a column set to number loses what is no number', async (context) => {
  const path = writeTable(context, 'mixed.csv', 'v,k\n1,a\ntwo,b\n3,a\nfour,b\n5,a\n');
  const { service, info } = await importFile(context, path);
  assert.equal(columnOf(info, 'v').type, 'category');
  const described = await service.describe({ dataset: info.id, settings: { types: { v: 'number' } } });
  assert.deepEqual([columnOf(described, 'v').missing, columnOf(described, 'v').mean], [2, 3]);
});

test('settings that name unknown columns or types are refused, with a suggestion', async (context) => {
  const { service, info } = await importFile(context, messy('types.csv'));
  const describe = (settings: object): Promise<unknown> => service.describe({ dataset: info.id, settings });
  await assert.rejects(describe({ types: { color: 'text' } }), {
    code: 'input.unknown_column',
    hint: 'Did you mean "colour"?',
  });
  await assert.rejects(describe({ types: { colour: 'categry' } }), {
    code: 'input.unknown_type',
    hint: 'Did you mean "category"?',
  });
  await assert.rejects(describe({ target: 'scores' }), { code: 'input.unknown_target', hint: 'Did you mean "score"?' });
});

test('a long table is measured in one piece, pictured from a sample, and its distinct values are estimated', async (context) => {
  const rows = Array.from({ length: 120_000 }, (_, index) => {
    const spread = (index * 7919) % 120_000;
    return `${spread + 0.5},${index % 500},k${index % 37},${index}`;
  });
  const path = writeTable(context, 'long.csv', `spread,step,kind,id\n${rows.join('\n')}\n`);
  const { info } = await importFile(context, path);
  const spread = columnOf(info, 'spread');
  assert.deepEqual([spread.minimum, spread.maximum, spread.mean], [0.5, 119_999.5, 60_000]);
  assert.ok(Math.abs((spread.median ?? 0) - 60_000) < 1200, `median ${spread.median}`);
  assert.ok(spread.distinct > 100_000 && spread.distinct <= 120_000, `distinct ${spread.distinct}`);
  assert.equal(columnOf(info, 'step').distinct, 500);
  assert.equal(columnOf(info, 'kind').distinct, 37);
  assert.equal(columnOf(info, 'id').type, 'identifier');
  assert.ok(!codes(info.warnings).includes('duplicates'));
});

test('number styles: 1,234 is a thousand in a comma file and one and a bit in a semicolon file', () => {
  assert.deepEqual(sniffNumberStyle([['1,234', '5,678']], ','), { decimal: '.', thousands: ',' });
  assert.deepEqual(sniffNumberStyle([['1,234', '5,678']], ';'), { decimal: ',', thousands: '' });
  assert.deepEqual(sniffNumberStyle([['1.234,5', '2.000,0']], ';'), { decimal: ',', thousands: '.' });
  assert.deepEqual(sniffNumberStyle([['1.5', 'NA']], ';'), { decimal: '.', thousands: '' });
  assert.ok(isNumber(' -1.5e3 ', { decimal: '.', thousands: '' }));
  assert.ok(!isNumber('12-3', { decimal: '.', thousands: '' }));
});

test('date formats: days above 12 decide the order', () => {
  assert.equal(sniffDateFormats(['13/02/2021', '01/03/2021'])[0]?.format, '%d/%m/%Y');
  assert.equal(sniffDateFormats(['02/13/2021', '01/03/2021'])[0]?.format, '%m/%d/%Y');
  assert.deepEqual(sniffDateFormats(['2021-02-13T10:00:00Z']), [{ format: undefined, title: 'ISO dates' }]);
  assert.deepEqual(sniffDateFormats(['2021', '2022']), []);
});

test('row numbers are found where some rows were copied with theirs, measurements without a gap are not', async (context) => {
  const rows = Array.from({ length: 200 }, (_, i) => `${1001 + i},${(i * 37) % 97},${i % 2 ? 'a' : 'b'}`);
  const write = (name: string, lines: readonly string[]): string =>
    writeTable(context, name, ['customer,calls,kind', ...lines].join('\n') + '\n');
  const { info } = await importFile(context, write('copied.csv', [...rows, ...rows.slice(20, 25)]));
  assert.deepEqual(
    [columnOf(info, 'customer').type, columnOf(info, 'customer').reason],
    ['identifier', 'counts the rows, from 1,001 to 1,200, but for 5 that repeat others'],
  );
  assert.equal(columnOf(info, 'calls').type, 'number');
  assert.ok(codes(info.warnings).includes('duplicates'));
  // With many rows a number, it is a quantity or a group.
  const { info: many } = await importFile(context, write('many.csv', [...rows, ...rows]));
  assert.equal(columnOf(many, 'customer').type, 'number');
});

test('numbers for people', () => {
  assert.deepEqual([0, 12, 1234, 1234567.891, -45678].map(show), ['0', '12', '1,234', '1,234,567.891', '-45,678']);
});
