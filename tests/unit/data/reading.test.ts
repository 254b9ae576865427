// Files as people have them: encodings, delimiters, quotes, number styles, headers. Each fixture says what is odd about it.

import assert from 'node:assert/strict';
import test from 'node:test';
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

test('a table with very many columns', async (context) => {
  const columns = 4000;
  const line = (row: number): string => Array.from({ length: columns }, (_, column) => (row * column) % 1009).join();
  const header = Array.from({ length: columns }, (_, column) => `feature_number_${column}`).join();
  const rows = Array.from({ length: 60 }, (_, row) => line(row + 1)).join('\n');
  const { service, info } = await importFile(context, writeTable(context, 'wide.csv', `${header}\n${rows}\n`));
  assert.deepEqual([info.columns.length, info.rows], [columns, 60]);
  const page = await service.rows({ dataset: info.id, offset: 5, limit: 1 });
  assert.equal(page.rows[0]?.[3], 18);
});

test('5,000 columns fit into the memory of a small machine', async (context) => {
  const columns = 5000;
  const line = (row: number): string => Array.from({ length: columns }, (_, column) => (row * column) % 97).join();
  const header = Array.from({ length: columns }, (_, column) => `c${column}`).join();
  const rows = Array.from({ length: 150 }, (_, row) => line(row + 1)).join('\n');
  const service = makeService(context, { memoryBytes: 512 * 2 ** 20 });
  const path = writeTable(context, 'wide.csv', `${header}\n${rows}\n`);
  const info = await service.import({ job: 'wide', path });
  assert.deepEqual([info.columns.length, info.rows, columnOf(info, 'c3').distinct], [columns, 150, 97]);
});
