// Weights that have read texts by one tokenizer are not begun with where another cuts them: an id would mean another token.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
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

test('a model of texts begins where the same rows make the same tokenizer, and nowhere else', async () => {
  const first = writeTexts('first.csv', ['ash', 'beech', 'cedar', 'elm', 'lark', 'robin', 'wren', 'finch']);
  const { run } = await lastEvent(home, 'train', first, '--model', model, ...flags);
  const again = await lastEvent(home, 'train', first, '--from', String(run), ...flags);
  assert.equal(again.event, 'finished');
  // As many words, so that every shape fits.
  const other = writeTexts('other.csv', ['iron', 'tin', 'lead', 'zinc', 'rose', 'lily', 'iris', 'poppy']);
  const refused = await trainyard(home, 'train', other, '--from', String(run), ...flags);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Run 1 reads texts by a tokenizer of its own/);
});
