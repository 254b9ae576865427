// Files as people have them: encodings, delimiters, quotes, number styles, headers. Each fixture says what is odd about it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DuckDBConnection } from '@duckdb/node-api';
import { allRows, codes, columnOf, importFile, makeService, messy, writeTable } from './helpers.ts';

const encodings = [
  ['utf8-bom.csv', 'UTF-8'],
  ['utf16-le.csv', 'UTF-16 (little endian)'],
  ['utf16-be.csv', 'UTF-16 (big endian)'],
  ['utf16-no-mark.csv', 'UTF-16 (little endian)'],
  ['latin1.csv', 'Latin-1 (Windows-1252)'],
  ['crlf.csv', 'UTF-8'],
] as const;

for (const [name, encoding] of encodings) {
  test(`${name} is read as ${encoding}, with all its letters`, async (context) => {
    const { service, info } = await importFile(context, messy(name));
    assert.equal(info.reading.encoding, encoding);
    assert.deepEqual(
      info.columns.map((column) => column.name),
      ['town', 'degrees', 'weather'],
    );
    assert.equal(info.rows, 40);
    const towns = new Set((await allRows(service, info)).map(([town]) => town));
    assert.deepEqual([...towns].sort(), ['Basel', 'Bern', 'Genève', 'Zürich']);
    assert.equal(columnOf(info, 'degrees').type, 'number');
  });
}

const delimiters = [
  ['tabs.csv', 'tab'],
  ['pipes.txt', 'vertical bar'],
  ['excel-sep.csv', 'semicolon'],
  ['crlf.csv', 'comma'],
] as const;

for (const [name, delimiter] of delimiters) {
  test(`${name} is divided by ${delimiter}`, async (context) => {
    const { info } = await importFile(context, messy(name));
    assert.equal(info.reading.delimiter, delimiter);
    assert.equal(info.columns.length, 3);
    assert.equal(info.rows, 40);
  });
}

test('decimal commas between semicolons', async (context) => {
  const { service, info } = await importFile(context, messy('semicolon-decimal-comma.csv'));
  assert.equal(info.reading['decimal mark'], 'comma');
  assert.equal(columnOf(info, 'price').type, 'number');
  assert.deepEqual((await allRows(service, info))[0], ['item B', 1.15, 1]);
});

test('thousands marks, with a decimal point and with a decimal comma', async (context) => {
  const english = await importFile(context, messy('thousands.csv'));
  assert.deepEqual((await allRows(english.service, english.info))[1], ['B', 2037, 5091.5]);
  const german = await importFile(context, messy('european-thousands.csv'));
  assert.deepEqual((await allRows(german.service, german.info))[1], ['B', 2037007, 1.1]);
});

test('quotes, doubled quotes, commas and line breaks inside values', async (context) => {
  const { service, info } = await importFile(context, messy('quoted.csv'));
  const notes = (await allRows(service, info)).map((row) => row[1]);
  assert.deepEqual(notes, ['said "yes", then left', 'two\nlines', 'comma, inside', 'plain']);
});

test('single quotes', async (context) => {
  const { service, info } = await importFile(context, messy('single-quotes.csv'));
  assert.deepEqual((await allRows(service, info))[0], ['last, first 0', 'x']);
});

test('a quote within an unquoted value is a character', async (context) => {
  const path = writeTable(context, 'inches.csv', 'part,size\npipe,5" wide\nrod,2" wide\nbar,1" wide\n');
  const { service, info } = await importFile(context, path);
  assert.deepEqual((await allRows(service, info))[0], ['pipe', '5" wide']);
});

test('no header: columns are numbered', async (context) => {
  const { service, info } = await importFile(context, messy('no-header.csv'));
  assert.deepEqual(
    info.columns.map((column) => column.name),
    ['column 1', 'column 2', 'column 3'],
  );
  assert.equal(info.rows, 30);
  assert.deepEqual((await allRows(service, info))[0], [5, 0.5, 'blue']);
});

test('years as column names are a header', async (context) => {
  const { info } = await importFile(context, messy('year-columns.csv'));
  assert.deepEqual(
    info.columns.map((column) => column.name),
    ['country', '2019', '2020', '2021'],
  );
});

test('a single column, lines before the table, row names without a name, a delimiter at each end', async (context) => {
  const single = await importFile(context, messy('single-column.csv'));
  assert.deepEqual([single.info.columns.length, single.info.rows], [1, 30]);
  const comments = await importFile(context, messy('comment-lines.csv'));
  assert.equal(comments.info.reading['lines before the table'], '3');
  assert.deepEqual((await allRows(comments.service, comments.info))[1], [1, 1.5]);
  const named = await importFile(context, messy('row-names.csv'));
  assert.deepEqual(
    named.info.columns.map((column) => column.name),
    ['row', 'speed', 'distance'],
  );
  assert.deepEqual((await allRows(named.service, named.info))[0], [1, 5, 3]);
  const trailing = await importFile(context, messy('trailing-delimiter.csv'));
  assert.deepEqual((await allRows(trailing.service, trailing.info))[1], [1, 1, 'y']);
});

test('column names are made unique, and it is said', async (context) => {
  const { info } = await importFile(context, messy('duplicate-names.csv'));
  const names = info.columns.map((column) => column.name);
  assert.deepEqual(names, ['a', 'A_3', 'column 3', 'b', 'a_2']);
  const warning = info.warnings.find(({ code }) => code === 'renamed');
  assert.match(warning?.message ?? '', /a second "A" is now "A_3"/);
  assert.deepEqual(warning?.columns, ['A_3', 'column 3']);
});

test('what is set for reading overrides what was found', async (context) => {
  const path = writeTable(context, 'odd.csv', 'a;b\n1,5;x\n2,5;y\n');
  const found = await importFile(context, path);
  assert.deepEqual((await allRows(found.service, found.info))[0], [1.5, 'x']);
  const mixed = writeTable(context, 'mixed.csv', 'a,b;c\n1,2;3\n4,5;6\n');
  const set = await importFile(context, mixed, { delimiter: ',', header: false });
  assert.deepEqual(await allRows(set.service, set.info), [
    ['a', 'b;c'],
    ['1', '2;3'],
    ['4', '5;6'],
  ]);
  const points = await importFile(context, path, { decimal: '.' });
  assert.equal(columnOf(points.info, 'a').type, 'category');
  assert.notEqual(points.info.id, found.info.id);
  const greek = writeTable(context, 'greek.csv', Buffer.from('a,b\n1,\xe9\n', 'latin1'));
  const latin = await importFile(context, greek, { encoding: 'latin-1' });
  assert.deepEqual((await allRows(latin.service, latin.info))[0], [1, 'é']);
});

test('Latin-1 that begins like UTF-8 is noticed at the first other letter', async (context) => {
  const text = `a,b\n${'1,x\n'.repeat(100_000)}2,\xe9\n`;
  const { service, info } = await importFile(context, writeTable(context, 'late.csv', Buffer.from(text, 'latin1')));
  assert.equal(info.reading.encoding, 'Latin-1 (Windows-1252)');
  const last = await service.rows({ dataset: info.id, offset: info.rows - 1, limit: 5 });
  assert.deepEqual(last.rows, [[2, 'é']]);
});

test('a few bytes that are not UTF-8 spoil their own characters only, and their lines are named', async (context) => {
  const letters = (count: number): string => Array.from({ length: count }, (_, row) => `é${row % 5},${row}\n`).join('');
  const odd = Buffer.from('\xff\xe9 é,7\n', 'latin1');
  const files: readonly (readonly [about: string, bytes: Buffer, line: number])[] = [
    ['first row', Buffer.concat([Buffer.from('a,b\n'), odd, Buffer.from(letters(40))]), 2],
    ['last row', Buffer.concat([Buffer.from(`a,b\n${letters(40)}`), odd]), 42],
    ['far down', Buffer.concat([Buffer.from(`a,b\n${letters(300_000)}`), odd]), 300_002],
    [
      'beyond what is looked at',
      Buffer.concat([Buffer.from(`a,b\n${'x,1\n'.repeat(6e5)}${letters(40)}`), odd]),
      600_042,
    ],
  ];
  for (const [about, bytes, line] of files) {
    const { service, info } = await importFile(context, writeTable(context, 'mixed.csv', bytes));
    assert.equal(info.reading.encoding, 'UTF-8', about);
    const warning = info.warnings.find(({ code }) => code === 'odd_bytes');
    assert.match(warning?.message ?? '', new RegExp(`^Line ${line} holds bytes that are not UTF-8`), about);
    const { rows } = await service.rows({ dataset: info.id, offset: line - 2, limit: 1 });
    assert.deepEqual(rows, [['ÿé é', 7]], about);
    const other = await service.rows({ dataset: info.id, offset: line === 2 ? 1 : line - 3, limit: 1 });
    assert.match(String(other.rows[0]?.[0]), /^é\d$/, about);
  }
});

test('text that is neither UTF-8 nor Latin-1 is called a guess, UTF-32 is refused by name', async (context) => {
  const guesses: readonly (readonly [bytes: Buffer, guess: boolean])[] = [
    // Shift-JIS, Windows-1251, Windows-1250; then French and German in Latin-1.
    [Buffer.from(`a,b\n${'\x93\x8c\x8b\x9e,1\n'.repeat(30)}`, 'latin1'), true],
    [Buffer.from(`a,b\n${'\xcc\xee\xf1\xea\xe2\xe0,1\n'.repeat(30)}`, 'latin1'), true],
    [Buffer.from(`a,b\n${'g\xeaslego p\xb3ugu,1\n'.repeat(30)}`, 'latin1'), true],
    [Buffer.from(`a,b\n${'\xe9t\xe9 \xe0 c\xf4t\xe9,1\n'.repeat(30)}`, 'latin1'), false],
    [Buffer.from(`a,b\n${'Gr\xf6\xdfe \xdcber,1\n'.repeat(30)}`, 'latin1'), false],
  ];
  for (const [index, [bytes, guess]] of guesses.entries()) {
    const { info } = await importFile(context, writeTable(context, 'foreign.csv', bytes));
    assert.equal(info.reading.encoding, 'Latin-1 (Windows-1252)');
    assert.equal(codes(info.warnings).includes('encoding_guess'), guess, String(index));
  }
  const text = [...`\ufeffa,b\n${'1,x\n'.repeat(20)}`].map((letter) => letter.codePointAt(0) ?? 0);
  for (const points of [text, text.slice(1)]) {
    const path = writeTable(context, 'wide.csv', new Uint8Array(Uint32Array.from(points).buffer));
    await assert.rejects(importFile(context, path), { code: 'input.encoding', message: /wide\.csv is text in UTF-32/ });
  }
});

test('a column of numbers with other values further down is read again as text', async (context) => {
  const numbers = Array.from({ length: 5000 }, (_, index) => `${index},${index % 7}`).join('\n');
  const { info } = await importFile(context, writeTable(context, 'late.csv', `a,b\n${numbers}\nfive,3\nNA,2\n`));
  assert.equal(info.rows, 5002);
  const column = columnOf(info, 'a');
  assert.equal(column.type, 'number');
  assert.equal(column.missing, 2);
  assert.ok(codes(info.warnings).includes('not_numbers'));
});

test('skipBadLines leaves broken lines out and says which', async (context) => {
  const { info } = await importFile(context, messy('bad-ragged.csv'), { skipBadLines: true });
  assert.equal(info.rows, 12);
  const warning = info.warnings.find(({ code }) => code === 'skipped_lines');
  assert.deepEqual(warning?.rows, [3, 5]);
  assert.match(warning?.message ?? '', /2 lines could not be read and were left out: 3, 5/);
});

test('JSON lines: keys that come and go, nested values', async (context) => {
  const { service, info } = await importFile(context, messy('lines.jsonl'));
  assert.equal(info.reading.format, 'JSON lines');
  assert.equal(columnOf(info, 'weight').missing, 6);
  assert.equal(columnOf(info, 'pet').type, 'category');
  const [age, tags, pet, weight] = (await allRows(service, info))[1] ?? [];
  assert.deepEqual([age, tags, pet, weight], [21, '["a","b"]', 'dog', 50.5]);
});

test('5,000 columns fit into the memory of a small machine, and are not asked about again and again', async (context) => {
  const columns = 5000;
  const line = (row: number): string => Array.from({ length: columns }, (_, column) => (row * column) % 97).join();
  const header = Array.from({ length: columns }, (_, column) => `c${column}`).join();
  const rows = Array.from({ length: 150 }, (_, row) => line(row + 1)).join('\n');
  const service = makeService(context, { memoryBytes: 512 * 2 ** 20 });
  const path = writeTable(context, 'wide.csv', `${header}\n${rows}\n`);
  const statements = context.mock.method(DuckDBConnection.prototype, 'run');
  const info = await service.import({ job: 'wide', path });
  const counted = statements.mock.callCount();
  // Each is bound to all the columns there are: of a few columns at a time, they would take many seconds.
  assert.ok(counted < 250, `${counted} statements`);
  assert.deepEqual([info.columns.length, info.rows, columnOf(info, 'c3').distinct], [columns, 150, 97]);
  const page = await service.rows({ dataset: info.id, offset: 5, limit: 1 });
  assert.equal(page.rows[0]?.[4999], (6 * 4999) % 97);
});

test('a file that is there already is read anew where a header is said to be none', async (context) => {
  const service = makeService(context);
  const rows = Array.from({ length: 30 }, (_, row) => `a${row % 3},b${row % 2}`).join('\n');
  const path = writeTable(context, 'names.csv', `p,q\n${rows}\n`);
  const found = await service.import({ job: 'a', path });
  const without = await service.import({ job: 'b', path, options: { header: false } });
  assert.deepEqual([found.rows, without.rows], [30, 31]);
  assert.notEqual(found.id, without.id);
  assert.equal((await service.import({ job: 'c', path, options: { skipBadLines: false } })).id, found.id);
});
