// Text files that DuckDB does not read as they are meant: spaces between fields, odd line ends, line breaks inside quotes,
// very long cells, units below the header. Rows come out as written, or the message names the line that is wrong.

import assert from 'node:assert/strict';
import test from 'node:test';
import { beginsLong, countRecords } from '../../../engine/data/formats/lines.ts';
import { readRecords } from '../../../engine/data/formats/records.ts';
import { randomBits } from '../../../engine/data/preprocess/split.ts';
import { allRows, codes, columnOf, importFile, makeService, writeTable } from './helpers.ts';

const lines = (count: number, line: (row: number) => string, end = '\n'): string =>
  Array.from({ length: count }, (_, row) => line(row) + end).join('');

const expected = Array.from({ length: 30 }, (_, row) => [row, row * 2.5, row % 2 === 0 ? 'red' : 'blue']);
const row = (mark: string) => (index: number) => [index, index * 2.5, index % 2 === 0 ? 'red' : 'blue'].join(mark);

const same: readonly (readonly [name: string, text: string, delimiter: string])[] = [
  ['one space', `a b c\n${lines(30, row(' '))}`, 'spaces'],
  ['runs of spaces and tabs', `  a   b \t c\n${lines(30, row('  \t '), '  \n')}`, 'spaces'],
  ['carriage returns', `a,b,c\r${lines(30, row(','), '\r')}`, 'comma'],
  [
    'mixed line ends',
    `a,b,c\r\n${expected.map((_, i) => row(',')(i) + ['\n', '\r\n', '\r'][i % 3]).join('')}`,
    'comma',
  ],
  ['a line break in the header', `"a\n",b,c\n${lines(30, row(','))}`, 'comma'],
  ['blank lines', `a,b,c\n\n${lines(30, row(','), '\n \n')}`, 'comma'],
  ['backslashes before quotes', `a,b,c\n${lines(30, (i) => row(',')(i).replace(/[a-z]+/, '"$&"'))}`, 'comma'],
  ['two marks', `a||b||c\n${lines(30, row('||'))}`, '||'],
];

for (const [name, text, delimiter] of same) {
  test(`${name}: the same rows`, async (context) => {
    const options = delimiter === '||' ? { delimiter } : undefined;
    const { service, info } = await importFile(context, writeTable(context, 'odd.csv', text), options);
    assert.equal(info.reading.delimiter, delimiter);
    assert.deepEqual(
      info.columns.map((column) => column.name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(await allRows(service, info), expected);
  });
}

test('marks of other delimiters in every text divide nothing', async (context) => {
  const color = (index: number): string => `red; ${['blue', 'green'][index % 2]}`;
  const texts: readonly (readonly [text: string, names: readonly string[]])[] = [
    [`id,note,v\n${lines(30, (i) => `${i},"${color(i)}, dark",${i / 4}`)}`, ['id', 'note', 'v']],
    [`note,v\n${lines(30, (i) => `${color(i)},${i / 4}`)}`, ['note', 'v']],
    [`id,"note; long",v\n${lines(30, (i) => `${i},"${color(i)}",${i / 4}`)}`, ['id', 'note; long', 'v']],
    [`note|v\n${lines(30, (i) => `a: b; c, d|${i / 4}`)}`, ['note', 'v']],
  ];
  for (const [text, names] of texts) {
    const { service, info } = await importFile(context, writeTable(context, 'marks.csv', text));
    assert.deepEqual(
      info.columns.map((column) => column.name),
      names,
    );
    assert.deepEqual((await allRows(service, info)).at(-1)?.at(-1), 7.25);
  }
});

test('line ends that change far down, beyond what is looked at first', async (context) => {
  const text = `a,b,c\n${lines(150_000, row(','))}7,8,"x\ry"\r9,1,z\r\n`;
  const { service, info } = await importFile(context, writeTable(context, 'late.csv', text));
  assert.equal(info.rows, 150_002);
  const last = await service.rows({ dataset: info.id, offset: 150_000, limit: 2 });
  assert.deepEqual(last.rows, [
    [7, 8, 'x\ry'],
    [9, 1, 'z'],
  ]);
});

test('line breaks of any kind within quotes, whatever ends the lines', async (context) => {
  const broken = ['q\r\nz', 'q\rz', 'q\nz', 'plain'];
  const ends: readonly (readonly string[])[] = [['\n'], ['\r\n'], ['\n', '\r\n']];
  for (const [index, end] of ends.entries()) {
    const text = lines(300, (i) => `${i},"${broken[i % 4] ?? ''}",P`, '\0').replaceAll(
      '\0',
      () => end[index % end.length] ?? '',
    );
    for (const first of ['', '1,"q\r\nz",P\n']) {
      const path = writeTable(context, 'breaks.csv', `a,b,y\n${first}${text}`);
      const { service, info } = await importFile(context, path);
      const rows = await allRows(service, info);
      assert.deepEqual(
        rows.slice(-300).map((cells) => cells[1]),
        Array.from({ length: 300 }, (_, i) => broken[i % 4]),
      );
    }
  }
});

const titled: readonly (readonly [text: string, names: string, lines: RegExp])[] = [
  [`Quarterly report\n\na,b,c\n${lines(30, row(','))}`, 'a b c', /^1 line .*"Quarterly report"\.$/],
  [`Sales report for 2023\na;b;c\n${lines(30, row(';'))}`, 'a b c', /"Sales report for 2023"/],
  [`Sales 2023,,\n,,\na,b,c\n${lines(30, row(','))}`, 'a b c', /"Sales 2023"/],
  [`"Sales, all"\nmade on 3 May\n\n# remark\na,b,c\n${lines(30, row(','))}`, 'a b c', /^3 lines .*all", "made/],
  [`Report\n\na,c\n${lines(30, (i) => `${i},x${i % 3}`)}`, 'a c', /"Report"/],
  [`Report\na,c\n${lines(30, (i) => `${i},x${i % 3}`)}`, 'a c', /"Report"/],
];

test('titles above a table are left out, and it is said', async (context) => {
  for (const [text, names, message] of titled) {
    const { service, info } = await importFile(context, writeTable(context, 'titled.csv', text));
    assert.equal(info.columns.map(({ name }) => name).join(' '), names, text);
    assert.equal(info.rows, 30);
    assert.equal((await allRows(service, info))[29]?.[0], 29);
    assert.match(info.warnings.find(({ code }) => code === 'title_lines')?.message ?? '', message);
  }
  // A name for the one column behind the names of rows is no title.
  const named = writeTable(context, 'named.csv', `color\n${lines(30, (i) => `car ${i},${i % 2 ? 'red' : 'blue'}`)}`);
  const { info } = await importFile(context, named);
  assert.deepEqual([info.rows, info.columns.map(({ name }) => name)], [30, ['row', 'color']]);
});

test('quotes after a backslash', async (context) => {
  const path = writeTable(context, 'escaped.csv', `a,b\n${lines(9, (i) => `"said \\"yes, ${i}\\"",${i}`)}`);
  const { service, info } = await importFile(context, path);
  assert.deepEqual((await allRows(service, info))[3], ['said "yes, 3"', 3]);
});

test('a cell of 12 MB loses no row', async (context) => {
  const long = 'long words '.repeat(1_100_000).trim();
  const path = writeTable(context, 'long.csv', `a,b\n${lines(40, (i) => `${i},${i === 3 ? long : 'short'}`)}`);
  const { service, info } = await importFile(context, path);
  const rows = await allRows(service, info);
  assert.deepEqual([info.rows, rows[3]?.[1] === long, rows[39]?.[0]], [40, true, 39]);
  assert.ok(
    info.warnings.every(({ message }) => message.length < 400),
    'a message does not repeat it',
  );
});

test('a long quoted text is noticed once, before DuckDB looks at each of its lines', async (context) => {
  const long = 'z,;\n'.repeat(1_500_000);
  const path = writeTable(context, 'long.csv', `a,b\n${lines(20, (i) => `${i},"${i === 5 ? long : 'short'}"`)}`);
  let noticed = 0;
  const { signal } = new AbortController();
  assert.equal(await countRecords(path, '"', 0, signal, () => noticed++), 21);
  assert.equal(noticed, 1);
  assert.ok(await beginsLong(path, '"', 0, signal));
  const lengths = writeTable(context, 'usual.csv', `a,b\n${lines(200_000, (i) => `${i},"two\nlines"`)}`);
  await countRecords(lengths, '"', 0, signal, () => noticed++);
  assert.deepEqual([noticed, await beginsLong(lengths, '"', 0, signal)], [1, false], 'many short records are not long');
  const { service, info } = await importFile(context, path);
  const { rows } = await service.rows({ dataset: info.id, offset: 5, limit: 1 });
  assert.ok(rows[0]?.[1] === long.trim() || rows[0]?.[1] === long, 'letter by letter');
});

test('a row of units under the header is left out, and it is said', async (context) => {
  const path = writeTable(context, 'units.csv', `time,speed,kind\ns,m/s,-\n${lines(30, row(','))}`);
  const { service, info } = await importFile(context, path);
  assert.deepEqual([info.rows, columnOf(info, 'speed').type, columnOf(info, 'speed').missing], [30, 'number', 0]);
  assert.deepEqual((await allRows(service, info))[0], [0, 0, 'red']);
  const warning = info.warnings.find(({ code }) => code === 'units_row');
  assert.match(warning?.message ?? '', /time s, speed m\/s/);
  // One word above one column of numbers is a value that is missing.
  const other = writeTable(context, 'word.csv', `kind,speed\nred,none\n${lines(30, (i) => `red,${i}`)}`);
  assert.ok(!codes((await importFile(context, other)).info.warnings).includes('units_row'));
});

test('a first row of words over numbers is no row of units if it holds values', async (context) => {
  const rows = lines(30, (i) => `${i / 4},${i},${'PQ'[i % 2] ?? ''}`);
  for (const first of ['BDL,BDL,P', 'low,high,P', 'x,x,P', 'm,s,P', 'm,s,2023-05-01', 'low,high,-']) {
    const { info } = await importFile(context, writeTable(context, 'words.csv', `a,b,y\n${first}\n${rows}`));
    assert.deepEqual([first, info.rows, codes(info.warnings).includes('units_row')], [first, 31, false]);
  }
  for (const first of ['m,s,-', '[kg],[m],', 'kg/m3,°C,text', 'W m-2,mmHg,', '%,m²,class']) {
    const { info } = await importFile(context, writeTable(context, 'units.csv', `a,b,y\n${first}\n${rows}`));
    assert.deepEqual([first, info.rows, codes(info.warnings).includes('units_row')], [first, 30, true]);
  }
});

test('a model predicts every row, unless the file it learned from began with units', async (context) => {
  const rows = lines(60, (i) => `${i / 4},${i},${i % 7}.5`);
  for (const [before, predicted] of [
    ['', 61],
    ['m,s,kg\n', 60],
  ] as const) {
    const { service, info } = await importFile(context, writeTable(context, 'train.csv', `a,b,y\n${before}${rows}`));
    const options = { settings: { target: 'y' }, seed: 1 };
    const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });
    const path = writeTable(context, 'new.csv', `a,b,y\nm,s,kg\n${rows}`);
    const data = await service.transform({ job: 't', path, preprocessing });
    assert.equal(data.counts.test, predicted);
    assert.equal(codes(data.warnings).includes('units_row'), predicted === 60);
    assert.equal(codes(data.warnings).includes('lost_cells'), predicted === 61);
  }
});

const broken: readonly (readonly [name: string, text: string, code: string, message: RegExp])[] = [
  ['an open quote in a short file', 'a,b\n1,"x\n2,y\n', 'input.unclosed_quote', /odd\.csv, line 2: a quote is opened/],
  [
    'an open quote that ends at the next one',
    `a,b\n1,"x\n${lines(9, row(','))}2,"y"\n`,
    'input.unclosed_quote',
    /line 2: a quote/,
  ],
  [
    'a line break inside quotes and a ragged line',
    'a,b\n1,"x\ny"\n1,2,3\n4,5\n',
    'input.ragged',
    /should have 2 fields in every line, but line 4 has 3\./,
  ],
  [
    'a late ragged line',
    `a,b\n${lines(60_000, (i) => `${i},"x\ny"`)}1,2,3\n`,
    'input.ragged',
    /but line 120002 has 3\./,
  ],
];

for (const [name, text, code, message] of broken) {
  test(`${name}: the line is named`, async (context) => {
    const service = makeService(context);
    await assert.rejects(service.import({ job: 'a', path: writeTable(context, 'odd.csv', text) }), (error: Error) => {
      assert.match(error.message, message);
      return 'code' in error && error.code === code;
    });
  });
}

test('bad lines are left out one by one', async (context) => {
  const path = writeTable(context, 'odd.csv', `a,b\n1,"x\n${lines(20, (i) => `${i},"y ${i}"`)}1,2,3\n`);
  const { info } = await importFile(context, path, { skipBadLines: true });
  assert.equal(info.rows, 20);
  assert.deepEqual(info.warnings.find(({ code }) => code === 'skipped_lines')?.rows, [2, 23]);
});

test('the reader of records, part by part', () => {
  const style = { delimiter: ',', quote: '"', escape: '"', spaced: false } as const;
  const read = (text: string): unknown => readRecords(text, style, true).map(({ fields, line }) => [line, ...fields]);
  assert.deepEqual(read('a,"b ""c""",\r\n\r"d\r\ne",f\rg'), [
    [1, 'a', 'b "c"', ''],
    [3, 'd\r\ne', 'f'],
    [5, 'g'],
  ]);
  assert.deepEqual(read('a,b"c\n,\n'), [
    [1, 'a', 'b"c'],
    [2, '', ''],
  ]);
});

test('records are counted whatever the lengths of lines are: short, long, blank, across buffers', async (context) => {
  const { signal } = new AbortController();
  for (const [longest, blanks] of [
    [8, 0.2],
    [60, 0.1],
    [300, 0.3],
  ] as const) {
    const rows = Array.from({ length: 9000 }, (_, row) => {
      const length = randomBits(longest, row) % longest;
      return randomBits(1, row) / 2 ** 32 < blanks ? ' '.repeat(length % 3) : 'x'.repeat(length);
    });
    const filled = rows.filter((line) => line.trim() !== '').length;
    for (const end of ['', '\n']) {
      const path = writeTable(context, 'lengths.csv', rows.join('\n') + end);
      assert.equal(await countRecords(path, '"', 0, signal), filled, `lines of up to ${longest}`);
    }
  }
});
