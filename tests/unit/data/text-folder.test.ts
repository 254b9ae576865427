// Folders of .txt files, one a class, as tables: odd encodings, empty and very long texts, folders of splits; and files to be predicted.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { allRows, codes, columnOf, importFile, makeService, temporaryFolder } from './helpers.ts';

function folder(context: TestContext, files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = join(temporaryFolder(context), 'mails');
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  return root;
}

const letters = (kind: string, count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${kind}/${at}.txt`, `The ${kind} letter\nof day ${at}, "quoted", {`]),
  );

test('of a file of gigabytes its beginning is read, whatever a character has been cut at its end', async (context) => {
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('x😀'.repeat(900_000), 'utf16le')]);
  const path = folder(context, {
    ...letters('ham', 12),
    ...letters('spam', 12),
    'ham/wide.txt': wide,
    'spam/long.txt': 'é日'.repeat(1_000_000),
  });
  writeFileSync(join(path, 'spam', 'zeros.txt'), '');
  truncateSync(join(path, 'spam', 'zeros.txt'), 3 * 2 ** 30);
  const { service, info } = await importFile(context, path);
  const said = info.warnings.map(({ message }) => message).join('\n');
  assert.match(
    said,
    /^2 files are longer than 1,000,000 characters and cut there: ham\/wide\.txt, spam\/long\.txt\.$/m,
  );
  assert.match(said, /^1 file holds no text and counts as missing: spam\/zeros\.txt\.$/m);
  assert.doesNotMatch(said, /Windows-1252/);
  const texts = (await allRows(service, info)).map(([text]) => String(text));
  assert.ok(texts.some((text) => text.startsWith('x😀x')) && texts.some((text) => text.startsWith('é日é')));
});

test('one sub-folder a class; what is odd of a file is said', async (context) => {
  const path = folder(context, {
    ...letters('ham', 30),
    ...letters('spam', 30),
    'ham/a.txt': new Uint8Array([0x63, 0x61, 0x66, 0xe9]),
    'ham/b.txt': new Uint8Array([0xff, 0xfe, 0x68, 0, 0x69, 0]),
    'ham/empty.txt': ' \n',
    'ham/bytes.txt': new Uint8Array([0xff, 0xfe, 0x00, 0x01, 0x80]),
    'ham/wide.txt': new Uint8Array([0xff, 0xfe, 0x01, 0x00, 0x02, 0x00, 0x03, 0xe0]),
    'ham/zip.txt': new Uint8Array([0x50, 0x4b, 3, 4, 0, 0, 0x80, 0x81, 1]),
    'ham/pack.txt': new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0x99]),
    'spam/zero.txt': 'one\0two',
    'spam/long.txt': 'word '.repeat(300_000),
    'notes.txt': 'beside the classes',
    '.hidden.txt': 'left behind',
  });
  symlinkSync(join(path, 'nowhere'), join(path, 'spam', 'gone.txt'));
  mkdirSync(join(path, 'eggs'));
  const { service, info } = await importFile(context, path);
  assert.deepEqual(
    [info.rows, info.target, info.source, info.reading.classes],
    [65, 'label', 'mails', 'by sub-folder'],
  );
  assert.deepEqual(
    info.classes.map(({ name, count }) => [name, count]),
    [
      ['ham', 33],
      ['spam', 32],
    ],
  );
  const text = columnOf(info, 'text');
  assert.deepEqual([text.type, text.missing], ['text', 1]);
  assert.equal(text.lengths?.characters.maximum, 999_999);
  assert.equal(
    text.lengths?.histogram.reduce((sum, count) => sum + count, 0),
    64,
  );
  const found = await allRows(service, info);
  assert.deepEqual(found[0], ['The ham letter\nof day 0, "quoted", {', 'ham']);
  assert.ok(found.some(([one]) => one === 'café') && found.some(([one]) => one === 'hi'));
  const said = info.warnings.map(({ message }) => message).join('\n');
  assert.match(said, /^1 file is left out: no \.txt in the folder of a class\.$/m);
  assert.match(said, /^1 file is not UTF-8 and read as Windows-1252: ham\/a\.txt\.$/m);
  assert.match(said, /^1 file is longer than 1,000,000 characters and cut there: spam\/long\.txt\.$/m);
  assert.match(
    said,
    /^4 files are left out, as what they hold is no text: ham\/bytes\.txt, ham\/pack\.txt, ham\/wide\.txt and 1 more\.$/m,
  );
  assert.match(said, /^1 file is left out, as it cannot be read: spam\/gone\.txt\.$/m);
  assert.match(said, /^1 file has zero bytes, read as spaces: spam\/zero\.txt\.$/m);
  assert.match(said, /^1 file holds no text and counts as missing: ham\/empty\.txt\.$/m);
  assert.match(said, /^1 folder is empty and no class: eggs\.$/m);
  const again = await service.import({ job: 'again', path });
  assert.equal(again.id, info.id, 'the same files are the same dataset');
});

test('folders of splits are joined, which is said; without classes a folder is refused', async (context) => {
  const within = (split: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [...Object.entries(letters('ham', 8)), ...Object.entries(letters('spam', 8))].map(([file, text]) => [
        `${split}/${file}`,
        `${split} ${text}`,
      ]),
    );
  const { info } = await importFile(context, folder(context, { ...within('train'), ...within('test') }));
  assert.deepEqual([info.rows, info.classes.length], [32, 2]);
  assert.ok(codes(info.warnings).includes('joined_splits'));
  const flat = folder(context, { 'a.txt': 'one', 'b.txt': 'two' });
  await assert.rejects(makeService(context).import({ job: 'i', path: flat }), {
    code: 'input.no_classes',
    message: /nothing says which class a text is of/,
  });
});

test('a run on texts predicts a folder of them, with or without classes', async (context) => {
  const path = folder(context, { ...letters('ham', 30), ...letters('spam', 30) });
  const { service, info } = await importFile(context, path);
  const options = { settings: { target: 'label' }, seed: 1, texts: 'words' } as const;
  const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });
  const flat = folder(context, { 'a.txt': 'The ham letter', 'b.txt': 'spam' });
  const predicted = await service.transform({ job: 't', path: flat, preprocessing });
  assert.equal(predicted.counts.test, 2);
  const { x, y } = await service.readShard({ handle: predicted.handle, shard: 0 });
  assert.ok(x[0] > 0 && y.every(Number.isNaN));
  const classed = await service.transform({ job: 't', path, preprocessing });
  assert.equal(classed.counts.test, 60);
  assert.deepEqual(
    new Set((await service.readShard({ handle: classed.handle, shard: 0 })).y),
    new Set([0, 1]),
    'their truth is known',
  );
});

test('a folder of files that are no texts is refused', async (context) => {
  const bytes = new Uint8Array([0xff, 0xfe, 0x00, 0x01, 0x80]);
  const path = folder(context, { 'a/1.txt': bytes, 'b/2.txt': bytes });
  await assert.rejects(makeService(context).import({ job: 'i', path }), {
    code: 'input.unreadable',
    message: /^None of the 2 texts of mails can be read\./,
  });
});

test('pictures with a text beside each are no folder of texts', async (context) => {
  const pictures = Object.fromEntries(Object.keys(letters('ham', 3)).map((file) => [file.replace('txt', 'png'), 'x']));
  const path = folder(context, { ...letters('ham', 3), ...pictures });
  const service = makeService(context);
  await assert.rejects(service.import({ job: 'i', path }), { message: /picture/ });
});
