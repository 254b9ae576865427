// A run that begins with a model of texts keeps its tokenizer: by another one an id would mean another token.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { keptTokens } from '../../engine/data/kept-tokens.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { refuseOtherTokens } from '../../engine/runs/continuation.ts';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';

const home = temporaryHome({ after } as never);

/** Texts of eight words, of which four tell the class. */
function writeTexts(name: string, words: readonly string[]): string {
  const file = path.join(home, name);
  const line = (row: number): string => {
    const likes = row % 2;
    const text = Array.from({ length: 6 }, (_, i) => words[likes * 4 + ((row * 7 + i * i) % 4)]);
    return `${text.join(' ')},${likes ? 'yes' : 'no'}`;
  };
  fs.writeFileSync(file, ['text,label', ...Array.from({ length: 120 }, (_, row) => line(row))].join('\n'));
  return file;
}

const model = path.join(home, 'model.json');
const layers = [
  { type: 'token_embedding', dimensions: 8 },
  { type: 'pool_positions', pool: 'mean' },
  { type: 'output' },
];
fs.writeFileSync(model, JSON.stringify({ version: 1, layers }));
const flags = ['--target', 'label', '--text', 'text', '--epochs', '2', '--device', 'cpu', '--threads', '1'];

const tokenizerOf = (run: unknown): unknown => {
  const file = path.join(home, 'runs', String(run), 'preprocessing.json');
  const recipe = JSON.parse(fs.readFileSync(file, 'utf8')) as { features: { tokenizer: unknown; length: number }[] };
  return recipe.features[0].tokenizer;
};
const birds = ['ash', 'beech', 'cedar', 'elm', 'lark', 'robin', 'wren', 'finch'];
const other = ['iron', 'tin', 'lead', 'zinc', 'lark', 'robin', 'wren', 'finch'];

test('a run on other texts keeps the tokenizer of the run it begins with, predicts by it and is begun with again', async () => {
  const first = writeTexts('first.csv', birds);
  const { run } = await lastEvent(home, 'train', first, '--model', model, ...flags);
  const second = writeTexts('second.csv', other);
  const begun = await trainyard(home, 'train', second, '--from', String(run), ...flags, '--json');
  assert.equal(begun.code, 0, begun.stderr);
  const next = begun.events.at(-1)?.run;
  assert.deepEqual(tokenizerOf(next), tokenizerOf(run));
  const log = (await trainyard(home, 'show', String(next), '--log')).stdout;
  assert.match(log, /\(Token embedding\): taken from run 1\.[^]*\(Output\): taken from run 1\./);
  assert.equal(fs.readdirSync(path.join(home, 'tokenizers')).length, 1);
  const { events } = await trainyard(home, 'predict', String(next), second, '--json');
  assert.equal(events.filter(({ event }) => event === 'prediction').length, 120);
  const again = await lastEvent(home, 'train', first, '--from', String(next), ...flags);
  assert.deepEqual(tokenizerOf(again.run), tokenizerOf(run));
  assert.equal(fs.readdirSync(path.join(home, 'tokenizers')).length, 1, 'the same tokenizer is kept once');
});

test('another tokenizer, and one that is gone, are refused by name', async () => {
  const second = path.join(home, 'second.csv');
  const refused = await trainyard(home, 'train', second, '--from', '1', ...flags, '--tokenizer', 'bytes');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--tokenizer does not go with --from: run 1 reads texts by a tokenizer of its own/);
  const kept = path.join(home, 'tokenizers');
  const [name] = fs.readdirSync(kept);
  fs.appendFileSync(path.join(kept, name), ' ');
  // Whoever begins with the run keeps its tokenizer anew.
  const mended = await lastEvent(home, 'train', second, '--from', '1', ...flags);
  assert.equal(mended.event, 'finished');
  await assert.rejects(keptTokens(home, '0'.repeat(32)), /The tokenizer that was kept as 0+ is gone\./);
  fs.appendFileSync(path.join(kept, name), ' ');
  await assert.rejects(keptTokens(home, path.parse(name).name), /is damaged/);
});

test('weights are not begun with where another tokenizer cuts the texts', async () => {
  const readFile = () =>
    Promise.resolve(new TextEncoder().encode(JSON.stringify({ features: [{ tokenizer: { a: 1 } }] })));
  const store = { readFile } as unknown as StoreService;
  await refuseOtherTokens(store, 1, { features: [{ tokenizer: { a: 1 } }] });
  await assert.rejects(
    refuseOtherTokens(store, 1, { features: [{ tokenizer: { a: 2 } }] }),
    /Run 1 reads texts by a tokenizer of its own/,
  );
  const both = (second: number) => ({ features: [{ tokenizer: { a: 1 } }, { tokenizer: { a: second } }] });
  await refuseOtherTokens(store, 1, both(1));
  await assert.rejects(refuseOtherTokens(store, 1, both(2)), /cut by another/);
});

test('two columns of text begin with a model of one, by its tokenizer; that a layer of each is wanted is said', async () => {
  const file = path.join(home, 'pair.csv');
  const lines = fs.readFileSync(path.join(home, 'first.csv'), 'utf8').split('\n').slice(1);
  fs.writeFileSync(file, ['text,more,label', ...lines.map((line) => `${line.split(',')[0]},${line}`)].join('\n'));
  const two = flags.map((flag) => (flag === 'text' ? 'text,more' : flag));
  const { run } = await lastEvent(home, 'train', file, '--from', '1', ...two);
  const log = (await trainyard(home, 'show', String(run), '--log')).stdout;
  assert.match(log, /No layer of this network reads more: it learns nothing from them/);
});

test('texts of a model with a place for each token are read at its length, others as far as it has places', async () => {
  const long = path.join(home, 'long.csv');
  const rows = Array.from(
    { length: 60 },
    (_, row) =>
      `${Array(30)
        .fill(birds[row % 8])
        .join(' ')},${row % 2}`,
  );
  fs.writeFileSync(long, ['text,label', ...rows].join('\n'));
  const small = path.join(home, 'first.csv');
  const lengthOf = async (places: object): Promise<string> => {
    const own = path.join(home, 'places.json');
    const [tokens, ...rest] = layers;
    fs.writeFileSync(
      own,
      JSON.stringify({ version: 1, layers: [tokens, { type: 'position_embedding', ...places }, ...rest] }),
    );
    const { run } = await lastEvent(home, 'train', small, '--model', own, ...flags);
    const next = await lastEvent(home, 'train', long, '--from', String(run), ...flags);
    const file = path.join(home, 'runs', String(next.run), 'preprocessing.json');
    return String((JSON.parse(fs.readFileSync(file, 'utf8')) as { features: { length: number }[] }).features[0].length);
  };
  assert.equal(await lengthOf({}), '6');
  assert.equal(await lengthOf({ most: 24 }), '24');
  assert.equal(await lengthOf({ most: 40 }), '30');
  const few = await trainyard(home, 'train', long, '--from', '1', ...flags, '--length', '20');
  assert.equal(few.code, 0, few.stderr);
});
