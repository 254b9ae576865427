// Input that cannot be used: one error that says what, where and what to do, exit code 2, and nothing left behind.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { explain } from '../../../engine/data/failures.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { DatasetSettings } from '../../../engine/protocol/data.ts';
import { importFile, makeService, messy, temporaryFolder, writeTable } from './helpers.ts';

/** Names in the folder of datasets, finished or not. */
function datasetFolders(home: string): string[] {
  const folder = join(home, 'datasets');
  return existsSync(folder) ? readdirSync(folder) : [];
}

const refused = [
  ['bad-empty.csv', 'input.empty', /bad-empty\.csv is empty/],
  ['bad-blank.csv', 'input.empty', /there is no text in it/],
  ['bad-header-only.csv', 'input.no_rows', /has a header line and no rows/],
  ['bad-binary.csv', 'input.binary', /it is binary data/],
  ['bad-workbook.csv', 'input.binary', /an Excel workbook/],
  ['bad-ragged.csv', 'input.ragged', /should have 3 fields in every line, but line 3 has 2, line 5 has 4\./],
  ['bad-unclosed-quote.csv', 'input.unclosed_quote', /line 3: a quote is opened/],
  ['bad-lines.jsonl', 'input.json', /line 2: not a JSON object/],
  ['no-such-file.csv', 'input.missing_file', /There is no file or folder at .*no-such-file\.csv/],
] as const;

for (const [name, code, message] of refused) {
  test(`${name} is refused as ${code}`, async (context) => {
    const service = makeService(context);
    await assert.rejects(service.import({ job: 'import', path: messy(name) }), (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.notEqual(error.hint, '');
      return true;
    });
    assert.deepEqual(datasetFolders(service.home), []);
  });
}

for (const content of ['', ' \n\n']) {
  test(`a book of ${content.length} characters that says nothing is asked for a text, not for a table alone`, async (context) => {
    const path = join(temporaryFolder(context), 'book.txt');
    writeFileSync(path, content);
    await assert.rejects(makeService(context).import({ job: 'import', path }), {
      code: 'input.empty',
      hint: /^Choose a text to learn from, or a table/,
    });
  });
}

test('one control character in a text is told with its line, not as a file of binary data', async (context) => {
  for (const [content, byte, line] of [
    ['a,b\n1,2\n3,\x004\n', '0x00', 3],
    [`a,b\n${'1,2\n'.repeat(400)}1,\x002\n`, '0x00', 402],
  ] as const) {
    const path = writeTable(context, 'stray.csv', content);
    const message = `stray.csv is text but for a control character: the byte ${byte} in line ${line}.`;
    await assert.rejects(makeService(context).import({ job: 'import', path }), { code: 'input.binary', message });
  }
});

test('of a large file that is no table its beginning is read, not all of it', async (context) => {
  const path = join(temporaryFolder(context), 'zeros.csv');
  writeFileSync(path, '');
  truncateSync(path, 8 * 2 ** 30);
  const service = makeService(context);
  const before = process.cpuUsage();
  await assert.rejects(service.import({ job: 'import', path }), { code: 'input.binary' });
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2e6, `${(user + system) / 1e6} s of the processor`);
  assert.deepEqual(datasetFolders(service.home), []);
});

test('a value that goes on and on is not written out where it is the only class', async (context) => {
  const { info } = await importFile(context, writeTable(context, 'line.csv', 'x'.repeat(900)), { header: false });
  const [{ message }] = info.warnings;
  assert.match(message, /has one class only: x{20,60}…/);
});

const zeros = '\0\0\0\0';
const pictures = {
  PNG: '\x89PNG\r\n\x1a\n\0',
  WebP: `RIFF${zeros}WEBPVP8 `,
  AVIF: '\0\0\0\x20ftypavif\0',
  BMP: `BM\x7a${zeros}${zeros}`,
};

for (const [kind, bytes] of Object.entries(pictures)) {
  test(`a ${kind} picture is refused as what it is`, async (context) => {
    const path = join(temporaryFolder(context), 'one.bin');
    writeFileSync(path, Buffer.from(bytes + zeros, 'latin1'));
    const importing = makeService(context).import({ job: 'import', path });
    await assert.rejects(importing, (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.equal(error.code, 'input.picture');
      assert.match(error.message, new RegExp(`it is an? ${kind} picture`));
      return true;
    });
  });
}

const unlearnable: readonly (readonly [string, DatasetSettings, string, RegExp])[] = [
  ['bad-one-class.csv', {}, 'input.one_class', /has one class only: same/],
  ['bad-target-missing.csv', {}, 'input.target_missing', /no value in any row/],
  ['bad-tiny.csv', {}, 'input.too_few_rows', /3 rows are too few for a split of 80 % \/ 10 % \/ 10 %/],
  [
    'single-column.csv',
    {},
    'input.no_features',
    /No column is left to learn from: the table has no other than the target "value"\./,
  ],
  ['types.csv', { target: 'id' }, 'input.too_many_classes', /40 different values in 40 rows: too many for classes/],
  ['tabs.csv', { split: [0.5, 0.6, 0] }, 'input.split', /three shares that add up to 1/],
];

for (const [name, settings, code, message] of unlearnable) {
  test(`training on ${name} is refused as ${code}`, async (context) => {
    const service = makeService(context);
    const { id } = await service.import({ job: 'import', path: messy(name) });
    const preparing = service.prepare({ job: 'prepare', dataset: id, options: { settings, seed: 1 } });
    await assert.rejects(preparing, (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  });
}

test('a table without a column to learn from is refused by name, and said to be so beforehand', async (context) => {
  const text = (line: (row: number) => string): string => Array.from({ length: 100 }, (_, row) => line(row)).join('\n');
  const tables: readonly (readonly [string, DatasetSettings, RegExp])[] = [
    [`k,y\n${text((row) => `1,${'ab'[row % 2] ?? ''}`)}`, {}, /from: k \(constant\) is left out\. Add columns/],
    [
      `id,y\n${text((row) => `c${row * 7}x,${'ab'[(row >> 2) % 2] ?? ''}`)}`,
      {},
      /from: id \(identifier\) is left out\. Give one another type, such as category, or add/,
    ],
    [
      `a,b,y\n${text((row) => `${row % 7},${row % 5},${'ab'[(row >> 2) % 2] ?? ''}`)}`,
      { ignored: ['a', 'b'] },
      /from: a \(as chosen\), b \(as chosen\) are left out\. Use one that was left out by choice, or/,
    ],
    [
      `g,y\n${text((row) => `g${row % 9},${'ab'[(row >> 2) % 2] ?? ''}`)}`,
      { splitBy: { kind: 'group', column: 'g' } },
      /from: g \(the split goes by it\) is left out\. Split otherwise than by its group, or/,
    ],
  ];
  for (const [index, [table, chosen, message]] of tables.entries()) {
    const service = makeService(context);
    const settings = { target: 'y', ...chosen };
    const path = writeTable(context, `table-${index}.csv`, `${table}\n`);
    const { id, warnings } = await service.import({ job: 'import', path, settings });
    const [first] = warnings;
    assert.equal(first?.blocks, true);
    assert.match(first.message, message);
    const preparing = service.prepare({ job: 'prepare', dataset: id, options: { settings, seed: 1 } });
    await assert.rejects(preparing, (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.equal(`${error.message} ${error.hint}`, first.message);
      return true;
    });
  }
});

test('settings that do not fit the file leave no dataset behind', async (context) => {
  const service = makeService(context);
  const importing = service.import({ job: 'import', path: messy('tabs.csv'), settings: { target: 'wether' } });
  await assert.rejects(importing, { code: 'input.unknown_target', hint: 'Did you mean "weather"?' });
  assert.deepEqual(datasetFolders(service.home), []);
});

test('a home that cannot be written is named', async (context) => {
  const file = join(temporaryFolder(context), 'file');
  writeFileSync(file, '');
  const service = makeService(context, { home: join(file, 'home') });
  await assert.rejects(service.import({ job: 'import', path: messy('tabs.csv') }), {
    name: 'InputError',
    code: 'input.read_only_home',
    message: /cannot be written \(.*home\)/,
  });
  assert.deepEqual(await service.list(), []);
});

test('a full disk is told from other failures, whoever reports it', () => {
  const fromNode = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const fromDuckDb = new Error('IO Error: Could not write file "/home/x/data.parquet": No space left on device');
  for (const error of [fromNode, fromDuckDb]) {
    const explained = explain(error);
    assert.ok(explained instanceof InputError);
    assert.equal(explained.code, 'input.disk_full');
  }
  const other = new Error('something else');
  assert.equal(explain(other), other);
});

test('a plain table whose copy cannot be written is not read again in another way', async (context) => {
  const path = writeTable(
    context,
    'plain.csv',
    `a,b\n${Array.from({ length: 99 }, (_, row) => `${row},x`).join('\n')}\n`,
  );
  const service = makeService(context);
  let code = 'ENOSPC';
  const file = await open(path);
  const write = context.mock.method(Object.getPrototypeOf(file) as typeof file, 'writev', async () => {
    throw Object.assign(new Error(`${code}: not written, write`), { code });
  });
  await file.close();
  await assert.rejects(service.import({ job: 'import', path }), { code: 'input.disk_full' });
  code = 'EFBIG';
  await assert.rejects(service.import({ job: 'import', path }), { code: 'input.file_too_large', message: /FAT32/ });
  assert.equal(write.mock.callCount(), 2);
  assert.deepEqual(await service.list(), []);
});

test('an unknown dataset, and one whose manifest is broken', async (context) => {
  const service = makeService(context);
  await assert.rejects(service.describe({ dataset: '../../etc', settings: {} }), { code: 'input.unknown_dataset' });
  const id = '0123456789abcdef0123456789abcdef';
  mkdirSync(join(service.home, 'datasets', id), { recursive: true });
  writeFileSync(join(service.home, 'datasets', id, 'manifest.json'), '{"version": 1, ');
  await assert.rejects(service.rows({ dataset: id, offset: 0, limit: 1 }), { code: 'input.unknown_dataset' });
  assert.deepEqual(await service.list(), []);
});

test('a file is data: it cannot make DuckDB read other files', async (context) => {
  const path = writeTable(
    context,
    "it's; DROP.csv",
    '"a"", (SELECT content FROM read_text(\'/etc/passwd\'))",b\n1,x\n2,y\n',
  );
  const service = makeService(context);
  const info = await service.import({ job: 'import', path });
  assert.equal(info.rows, 2);
  assert.match(info.columns[0]?.name ?? '', /read_text/);
});
