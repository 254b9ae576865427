// A text reaches its model to the last space, whatever file it stands in and whoever asks; categories, numbers and words for missing values do
// without the spaces round them.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { RowReader } from '../../../engine/data/preprocess/one-row.ts';
import { parsePreprocessing, textFeatures } from '../../../engine/data/preprocess/recipe.ts';
import type { DatasetSettings, PreparedData } from '../../../engine/protocol/data.ts';
import { textCodes } from '../../../engine/text/tokenizer.ts';
import { tokenizerOf, trainTokenizer } from '../../../engine/text/tokenizers.ts';
import { allRows, columnOf, importFile, makeService, temporaryFolder, type TestService } from './helpers.ts';

const count = 60;
const said = (row: number): string => `${row % 3 === 0 ? '  ' : ''}text ${row} of sixty${row % 4 === 0 ? ' ' : ''}`;
const kind = (row: number): string =>
  `${row % 5 === 0 ? ' ' : ''}${row % 2 ? 'cat' : 'dog'}${row % 7 === 0 ? '  ' : ''}`;
const size = (row: number): string => ` ${row * 1.5} `;
const missing = 7;
/** The rows with their spaces; one text is a word for a missing value, one is spaces. */
const rows = Array.from({ length: count }, (_, row) => ({
  said: row === missing ? ' NA ' : row === missing + 1 ? '   ' : said(row),
  size: size(row),
  kind: kind(row),
}));

function separated(mark: string): string {
  const lines = rows.map((row) => [row.said, row.size, row.kind].join(mark));
  return [['said', 'size', 'kind'].join(mark), ...lines].join('\n');
}

const column = (name: 'said' | 'size' | 'kind'): string[] => rows.map((row) => row[name]);
const arrow = () => tableFromArrays({ said: column('said'), size: column('size'), kind: column('kind') });

async function parquet(path: string, from: string): Promise<void> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const read = `read_json('${from}', columns = {said: 'VARCHAR', size: 'VARCHAR', kind: 'VARCHAR'})`;
  await connection.run(`COPY (SELECT * FROM ${read}) TO '${path}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
}

async function written(context: TestContext): Promise<Readonly<Record<string, string>>> {
  const folder = temporaryFolder(context);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('t.csv'), separated(','));
  writeFileSync(at('t.tsv'), separated('\t'));
  writeFileSync(at('t.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  writeFileSync(at('t.arrow'), tableToIPC(arrow(), 'file'));
  await parquet(at('t.parquet'), at('t.jsonl'));
  return { csv: at('t.csv'), tsv: at('t.tsv'), jsonl: at('t.jsonl'), arrow: at('t.arrow'), parquet: at('t.parquet') };
}

const settings = {
  target: 'kind',
  types: { said: 'text' },
  texts: { columns: ['said'], tokenizer: 'characters', length: 40 },
} as const satisfies DatasetSettings;

async function codesOf(service: TestService, data: PreparedData): Promise<readonly (readonly number[])[]> {
  const { length } = textFeatures(parsePreprocessing(data.preprocessing))[0];
  const { x } = await service.readShard({ handle: data.handle, shard: 0 });
  const all = Array.from({ length: data.shardStarts[1] }, (_, row) =>
    [...x.subarray((row + 1) * data.width - length, (row + 1) * data.width)].filter(
      (code) => code !== textCodes.padding,
    ),
  );
  return all;
}

test('texts keep their spaces in files of every kind and in rows given one by one', async (context) => {
  const files = await written(context);
  const { service, info } = await importFile(context, files.csv, undefined, settings);
  assert.deepEqual(
    info.classes.map(({ name }) => name),
    ['cat', 'dog'],
    'spaces make no class',
  );
  assert.deepEqual([columnOf(info, 'said').missing, columnOf(info, 'size').type], [2, 'number']);
  assert.deepEqual((await allRows(service, info))[0], ['  text 0 of sixty ', 0, 'dog']);
  const options = { settings, seed: 1, texts: 'tokens' } as const;
  const data = await service.prepare({ job: 'p', dataset: info.id, options });
  const recipe = parsePreprocessing(data.preprocessing);
  const tokenizer = tokenizerOf(textFeatures(recipe)[0].tokenizer);
  const wanted = rows.map(({ said: text }, row) =>
    row === missing || row === missing + 1 ? [] : Array.from(tokenizer.encode(text), (id) => id + textCodes.first),
  );
  assert.deepEqual(
    (await codesOf(service, data)).filter((codes) => codes.length > 0).length,
    count - 2,
    'words for missing values are still missing',
  );
  const trained = new Set(
    (await codesOf(service, data)).map((codes) => tokenizer.decode(codes.map((code) => code - 1))),
  );
  assert.ok(trained.has('  text 0 of sixty '), 'in training');
  for (const [name, path] of Object.entries(files)) {
    const found = await service.transform({ job: name, path, preprocessing: data.preprocessing });
    assert.deepEqual(await codesOf(service, found), wanted, name);
  }
  const { x } = new RowReader(recipe).read(rows.map(({ said: text }) => ({ said: text, size: 1 })));
  const { length } = textFeatures(recipe)[0];
  const width = x.length / count;
  const single = rows.map((_, row) => [...x.subarray((row + 1) * width - length, (row + 1) * width)].filter(Boolean));
  assert.deepEqual(single, wanted, 'one by one');
});

test('a folder of .txt files keeps what stands round its texts; a language model reads its passages whole', async (context) => {
  const root = join(temporaryFolder(context), 'notes');
  for (const { kind: label } of rows) mkdirSync(join(root, label.trim()), { recursive: true });
  rows.forEach((row, at) => writeFileSync(join(root, row.kind.trim(), `${at}.txt`), `${said(at)}\n`));
  const { service, info } = await importFile(context, root);
  const texts = (await allRows(service, info)).map(([text]) => text);
  assert.deepEqual(new Set(texts), new Set(rows.map((_, at) => `${said(at)}\n`)));
  const language = { target: 'text', task: 'language', texts: { length: 8 } } as const;
  const options = { settings: { ...language, split: [1, 0, 0] as const }, seed: 1, texts: 'tokens' as const };
  const data = await service.prepare({ job: 'l', dataset: info.id, options });
  const [{ tokenizer: json }] = textFeatures(parsePreprocessing(data.preprocessing));
  const { x } = await service.readShard({ handle: data.handle, shard: 0 });
  const read = tokenizerOf(json).decode(Array.from(x, (code) => code - textCodes.first));
  assert.ok(texts.join('\n').startsWith(read) && read.length > 1000, JSON.stringify(read.slice(0, 60)));
});

test('of a model of others only an empty text is missing; a number is the text that stands there', async (context) => {
  const words = ['?', '-', 'missing', ' NA ', 'N/A', 'NULL', 'nan', 'some text', '', '  '];
  const numbers = ['007', '1.50', '1e5', '12'];
  const folder = temporaryFolder(context);
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const table = (cells: readonly string[], mark = ''): string =>
    ['id,said', ...cells.map((cell, row) => `${row},${mark}${cell}${mark}`)].join('\n');
  const files: readonly (readonly [readonly string[], string])[] = [
    [words, write('plain.csv', table(words))],
    [words, write('quoted.csv', table(words, '"'))],
    [words, write('latin.csv', table([...words.slice(0, -1), ' \u00a0']))],
    [words, write('words.jsonl', words.map((said) => JSON.stringify({ said })).join('\n'))],
    [numbers, write('numbers.csv', table(numbers))],
  ];
  const tokenizer = trainTokenizer([...words, ...numbers], { kind: 'characters', vocabulary: 64 });
  const text = { kind: 'text', column: 'said', missing: [], characters: 40, length: 12 } as const;
  const target = { kind: 'classes', column: 'is', missing: [], classes: ['a', 'b'] } as const;
  const recipe = (exact: boolean) => ({
    ...{ version: 1, target, leftOut: [] },
    features: [{ ...text, tokenizer: tokenizer.toJSON(), vocabulary: tokenizer.vocabulary, exact }],
  });
  const codesOfText = (cell: string): number[] =>
    cell.trim() === '' ? [] : Array.from(tokenizer.encode(cell), (id) => id + textCodes.first);
  const service = makeService(context);
  for (const [cells, path] of files) {
    const found = await service.transform({ job: path, path, preprocessing: recipe(true) });
    assert.deepEqual(await codesOf(service, found), cells.map(codesOfText), path);
  }
  // Of a model of one's own a request has the words for missing texts that a file has.
  const single = (exact: boolean): number[][] => {
    const { x } = new RowReader(parsePreprocessing(recipe(exact))).read(words.map((said) => ({ said })));
    return words.map((_, row) => [...x.subarray(12 * row, 12 * row + 12)].filter(Boolean));
  };
  assert.deepEqual(single(true), words.map(codesOfText));
  const own = await service.transform({ job: 'own', path: files[0][1], preprocessing: recipe(false) });
  assert.deepEqual(single(false), await codesOf(service, own));
  assert.deepEqual(
    single(false).map(({ length }) => length > 0),
    words.map((word) => word === 'some text'),
  );
});
