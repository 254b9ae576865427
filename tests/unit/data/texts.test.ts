// Columns of text: when they are used, what a training and another file make of them, and that every way to a row gives the same codes.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { modelledRows } from '../../../engine/data/preprocess/modelled-rows.ts';
import { RowReader } from '../../../engine/data/preprocess/one-row.ts';
import { parsePreprocessing, textFeatures, type TextRecipe } from '../../../engine/data/preprocess/recipe.ts';
import { valuesOf } from '../../../engine/model/spec.ts';
import type { DatasetInfo, DatasetSettings, PreparedData, PrepareOptions } from '../../../engine/protocol/data.ts';
import { leftOutColumns, textColumns } from '../../../engine/protocol/use.ts';
import { packedWidth, packText, unpackText } from '../../../engine/text/packed.ts';
import { textCodes } from '../../../engine/text/tokenizer.ts';
import { tokenizerOf } from '../../../engine/text/tokenizers.ts';
import { columnOf, codes, importFile, writeTable, type TestService } from './helpers.ts';

const rows = 100;
const wordOf = (row: number): string => `only${row}`;

/** In the order of time, so that the last rows test. Some texts are empty; the last word is one that no other row has. */
function reviews(columns: 'all' | 'text alone'): string {
  const lines = [columns === 'all' ? 'day,price,review,liked' : 'review,liked'];
  for (let row = 0; row < rows; row++) {
    const liked = row % 3 === 0 ? 'no' : 'yes';
    const told =
      row % 10 === 7
        ? ''
        : `"A ${liked === 'yes' ? 'good' : 'bad'} one, bought ${'again '.repeat(row % 4)}and ${wordOf(row)}"`;
    const day = new Date(Date.UTC(2024, 0, 1 + row)).toISOString().slice(0, 10);
    lines.push(columns === 'all' ? `${day},${row * 1.5},${told},${liked}` : `${told},${liked}`);
  }
  return lines.join('\n');
}

const byTime = { target: 'liked', splitBy: { kind: 'time', column: 'day' } } as const satisfies DatasetSettings;
const withText: DatasetSettings = { ...byTime, texts: { columns: ['review'] } };

async function opened(context: TestContext, columns: 'all' | 'text alone', settings: DatasetSettings) {
  const path = writeTable(context, 'reviews.csv', reviews(columns));
  const { service, info } = await importFile(context, path, undefined, settings);
  const prepare = (options: Partial<PrepareOptions>): Promise<PreparedData> =>
    service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 1, ...options } });
  return { service, info, prepare };
}

async function rowsOf(service: TestService, data: PreparedData): Promise<readonly (readonly number[])[]> {
  const x: number[][] = [];
  const read = async (shard: number) => service.readShard({ handle: data.handle, shard });
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const { x: values, rows: count } = await read(shard);
    assert.equal(values.length, count * data.width);
    for (let row = 0; row < count; row++) x.push([...values.subarray(row * data.width, (row + 1) * data.width)]);
  }
  return x;
}

const textOf = (data: PreparedData): TextRecipe => textFeatures(parsePreprocessing(data.preprocessing))[0];
const leftOut = (info: DatasetInfo): readonly string[] => leftOutColumns(info).map(({ column }) => column);

test('texts are used where a person says so, or where there is nothing else', async (context) => {
  const mixed = await opened(context, 'all', byTime);
  assert.deepEqual([leftOut(mixed.info), textColumns(mixed.info)], [['review'], []]);
  assert.ok(codes(mixed.info.warnings).includes('text'));
  const chosen = await mixed.service.describe({ dataset: mixed.info.id, settings: withText });
  assert.deepEqual([leftOut(chosen), textColumns(chosen)], [[], ['review']]);
  assert.ok(!codes(chosen.warnings).includes('text'));
  const alone = await opened(context, 'text alone', { target: 'liked' });
  assert.deepEqual([leftOut(alone.info), textColumns(alone.info)], [[], ['review']]);
  const none = await alone.service.describe({
    dataset: alone.info.id,
    settings: { target: 'liked', texts: { columns: [] } },
  });
  assert.deepEqual(textColumns(none), []);
  assert.match(none.warnings[0].message, /No column is left to learn from/);
  const settings = { target: 'liked', texts: { columns: ['revew'] } };
  await assert.rejects(mixed.service.describe({ dataset: mixed.info.id, settings }), /no column "revew"/);
});

test('a model that reads no texts goes without them, and says so by its name', async (context) => {
  const mixed = await opened(context, 'all', withText);
  const data = await mixed.prepare({ forms: ['columns'], learner: 'boosted trees' });
  assert.deepEqual(data.leftOut, [{ column: 'review', reason: 'text' }]);
  const told = data.warnings.find(({ code }) => code === 'unread_texts');
  assert.match(told?.message ?? '', /review is left out: boosted trees cannot read text/);
  const alone = await opened(context, 'text alone', { target: 'liked' });
  await assert.rejects(alone.prepare({ learner: 'boosted trees' }), {
    code: 'input.no_features',
    message: /review is text, which boosted trees cannot read/,
  });
});

test('a tokenizer is trained on the training rows alone; codes stand behind all numbers', async (context) => {
  const { service, prepare } = await opened(context, 'all', withText);
  const data = await prepare({ texts: 'tokens' });
  const recipe = textOf(data);
  const tokenizer = tokenizerOf(recipe.tokenizer);
  assert.ok(data.input.kind === 'table');
  const { numeric, texts = [], width } = data.input;
  assert.deepEqual(texts, [{ name: 'review', vocabulary: tokenizer.vocabulary + 1, length: recipe.length }]);
  assert.equal(width, numeric + recipe.length);
  const unknown = tokenizer.encode('unheard')[0];
  assert.notEqual(tokenizer.encode(wordOf(5))[0], unknown, 'a word of a training row');
  assert.equal(tokenizer.encode(wordOf(95))[0], unknown, 'a word of a test row');
  const found = await rowsOf(service, data);
  const expected = [...tokenizer.encode(`A bad one, bought and ${wordOf(0)}`)].map((id) => id + textCodes.first);
  const padded = [...expected, ...new Array<number>(recipe.length).fill(textCodes.padding)].slice(0, recipe.length);
  assert.deepEqual(found[0].slice(numeric), padded);
  assert.ok(
    found[7].slice(numeric).every((code) => code === textCodes.padding),
    'an empty text',
  );
  assert.ok(recipe.missingShare !== undefined && recipe.missingShare > 0.05);
});

test('length and vocabulary are as set, and what is cut is said', async (context) => {
  const { prepare } = await opened(context, 'all', {
    ...withText,
    texts: { columns: ['review'], length: 3, vocabulary: 20 },
  });
  const data = await prepare({ texts: 'tokens' });
  const { length, vocabulary } = textOf(data);
  assert.deepEqual([length, vocabulary], [3, 20]);
  const told = data.warnings.find(({ code }) => code === 'cut_texts');
  assert.match(told?.message ?? '', /% of the training texts of review are longer than 3 tokens/);
  // As of rows that are asked about one by one.
  const reader = new RowReader(parsePreprocessing(data.preprocessing));
  const rowWith = (review: string): object => ({ day: '2024-01-09', price: 12, review });
  const { warnings } = reader.read(['a', 'A good one, bought again', 'bad'].map(rowWith) as never);
  assert.deepEqual(warnings, [
    'review: 1 of 3 texts is longer than the 3 tokens that the model reads; the rest of it is not read.',
  ]);
  assert.deepEqual(reader.read([rowWith('a')] as never).warnings, []);
  // Longer than any text of training: cut there, where three words have not come yet.
  const { characters } = textOf(data);
  const long = `${'a'.repeat(characters)} bad`;
  assert.deepEqual(reader.read([rowWith(long)] as never).warnings, [
    `review: the text is longer than the 3 tokens or ${characters} characters that the model reads; the rest of it is not read.`,
  ]);
});

test('rows as they are, a row by itself and another file give the same codes', async (context) => {
  const { service, prepare } = await opened(context, 'all', withText);
  const data = await prepare({ texts: 'words' });
  const direct = await rowsOf(service, data);
  const asTheyAre = await prepare({ texts: 'as they are', forms: ['columns'] });
  assert.equal(asTheyAre.width, valuesOf(asTheyAre.input));
  const made = modelledRows(
    { data: asTheyAre, readShard: (shard: number) => service.readShard({ handle: asTheyAre.handle, shard }) },
    data.preprocessing,
  );
  assert.deepEqual(made.data.input, data.input);
  const { x } = await made.readShard(0);
  assert.deepEqual([...x], direct.flat());

  const text = 'A good one, bought again and only3 at Zoë’s 🙂';
  const other = writeTable(context, 'other.csv', `day,price,review\n2024-01-09,12,"${text}"\n2024-01-10,13.5,\n`);
  const predicted = await rowsOf(
    service,
    await service.transform({ job: 't', path: other, preprocessing: data.preprocessing }),
  );
  const single = new RowReader(parsePreprocessing(data.preprocessing)).read([
    { day: '2024-01-09', price: 12, review: text },
    { day: '2024-01-10', price: 13.5, review: null },
  ]);
  assert.deepEqual([...single.x], predicted.flat());
  await assert.rejects(
    service.transform({
      job: 't',
      path: writeTable(context, 'lacks.csv', 'day,price\n2024-01-09,12\n'),
      preprocessing: data.preprocessing,
    }),
    { code: 'input.missing_column', message: /review/ },
  );
});

test('texts that are all equal are left out; very long ones are cut, which is said', async (context) => {
  const same = ['note,size,kind', ...Array.from({ length: 60 }, (_, row) => `the very same words,${row},${row % 2}`)];
  const settings: DatasetSettings = {
    target: 'kind',
    types: { note: 'text' },
    texts: { columns: ['note'] },
  };
  const { info } = await importFile(context, writeTable(context, 'same.csv', same.join('\n')), undefined, settings);
  assert.deepEqual(leftOutColumns(info), [{ column: 'note', reason: 'constant' }]);

  const long = Array.from({ length: 60 }, (_, row) => `${'word '.repeat(row === 0 ? 400_000 : 2)}end${row},${row % 2}`);
  const path = writeTable(context, 'long.csv', ['note,kind', ...long].join('\n'));
  const only = { target: 'kind', types: { note: 'text' } } as const;
  const { service, info: told } = await importFile(context, path, undefined, only);
  const found = told.warnings.filter(({ code }) => code === 'cut_texts').map(({ message }) => message);
  assert.deepEqual(found, [
    'note has texts of up to 2,000,004 characters: what stands behind the first 8,192 is not read.',
  ]);
  const data = await service.prepare({
    job: 'p',
    dataset: told.id,
    options: { settings: { ...only, split: [1, 0, 0] }, seed: 1, texts: 'words' },
  });
  const { length, characters } = textOf(data);
  assert.ok(length <= 1024 && characters <= 8192);
  assert.match(data.warnings.map(({ message }) => message).join(' '), /texts of up to 2,000,004 characters/);
});

test('texts within rows of numbers: every character comes back', () => {
  for (const text of ['', 'a', 'ab\u0000c', '🙂 ünïcode \ud800', 'x'.repeat(9000), null]) {
    const width = packedWidth(Math.max(1, text?.length ?? 0));
    const out = new Float64Array(width + 2).fill(5);
    packText(text, out, 1, width);
    assert.equal(unpackText(out, 1), text);
    assert.deepEqual([out[0], out[width + 1]], [5, 5]);
  }
});

test('characters that a tokenizer does not know are counted and said', async (context) => {
  const lines = Array.from({ length: 300 }, (_, at) => `Here is line ${at} of a book${at % 3 ? '' : ' as it is'}.`);
  lines.push(...Array.from({ length: 20 }, () => 'Here is ß.'));
  const { service, info } = await importFile(context, writeTable(context, 'book.txt', lines.join('\n')));
  const prepared = await service.prepare({
    job: 'p',
    dataset: info.id,
    options: { settings: {}, seed: 1, texts: 'tokens' },
  });
  const told = prepared.warnings.filter(({ code }) => code === 'unknown_tokens').map(({ message }) => message);
  assert.equal(told.length, 1);
  assert.match(told[0], /^20 characters of the other texts do not stand in the training text/);
});

test('a text whose sentences happen to have as many words each is no table; lines of as many words that are no sentences still are', async (context) => {
  const words = ['rain', 'wind', 'snow', 'hail', 'frost', 'cloud', 'storm'];
  const line = (at: number): string => Array.from({ length: 7 }, (_, word) => words[(at + word * word) % 7]).join(' ');
  const told = Array.from({ length: 40 }, (_, at) => `Now ${line(at)}${'.!?'[at % 3]}`).join('\n\n');
  const { info } = await importFile(context, writeTable(context, 'verse.txt', told));
  assert.deepEqual(
    info.columns.map(({ name }) => name),
    ['text'],
  );
  const cells = Array.from({ length: 40 }, (_, at) => line(at)).join('\n');
  const table = await importFile(context, writeTable(context, 'cells.txt', cells));
  assert.notEqual(table.info.columns[0]?.name, 'text');
});

test('a corpus on a single line is a text; one whose bytes look like no Latin-1 says that its encoding is a guess', async (context) => {
  const corpus = Array.from({ length: 900 }, (_, i) => ['the', 'yard', 'engine', 'moves'][(i * 7) % 4]).join(' ');
  const { info } = await importFile(context, writeTable(context, 'corpus.txt', corpus));
  assert.deepEqual([info.task, info.rows, columnOf(info, 'text').type], ['language', 1, 'text']);
  for (const other of ['a,b,c\n1,2,3\n', 'word '.repeat(100), `${'name;'.repeat(300)}\n`]) {
    const path = writeTable(context, 'table.txt', other);
    const made = await importFile(context, path).catch((error: { code: string }) => error.code);
    assert.ok(typeof made === 'string' || made.info.task !== 'language', other.slice(0, 20));
  }
  const lines = Array.from({ length: 40 }, (_, i) => `The yard \xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0 is number ${i}.`);
  const foreign = await importFile(
    context,
    writeTable(context, 'foreign.txt', Buffer.from(lines.join('\n'), 'latin1')),
  );
  assert.equal(foreign.info.task, 'language');
  assert.ok(foreign.info.warnings.some(({ code }) => code === 'encoding_guess'));
});
