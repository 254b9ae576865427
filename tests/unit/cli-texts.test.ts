// Texts on the command line: a table of reviews is trained on, looked at, explained and used on another file.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';

const home = temporaryHome({ after } as never);

const goods = ['bread', 'tea', 'soup', 'a lamp', 'two chairs', 'the blue bag'];
const [praise, blame] = [
  ['lovely', 'would buy again', 'fresh and well packed'],
  ['stale', 'sent it back', 'broken on arrival'],
];

/** 240 reviews; what decides is words, one by one and side by side. */
function reviews(rows: number): string {
  const lines = ['stars,review,liked'];
  for (let row = 0; row < rows; row++) {
    const liked = row % 2 === 0;
    const words = (liked ? praise : blame)[row % 3];
    lines.push(`${1 + ((row * 7) % 5)},"Ordered ${goods[row % 6]}, no. ${row}: ${words}!",${liked ? 'yes' : 'no'}`);
  }
  return lines.join('\n');
}

const table = path.join(home, 'reviews.csv');
fs.writeFileSync(table, reviews(240));

test('a column of text is left out until it is asked for, and said to be', async () => {
  const { stdout, code } = await trainyard(home, 'inspect', table, '--target', 'liked');
  assert.equal(code, 0);
  assert.match(stdout, /review is text and is left out\. .*\(--text review\)/);
});

test('train with --text, show, evaluate, explain, predict another file', async () => {
  const flags = ['--target', 'liked', '--text', 'review', '--model', 'linear'];
  const { metrics } = await lastEvent(home, 'train', table, ...flags);
  assert.equal((metrics as Record<string, number>).test_accuracy, 1);
  const { stdout } = await trainyard(home, 'explain', '1');
  const [first] = stdout.split('\n').flatMap((line) => /^(review|stars) +[\d.]/.exec(line)?.[1] ?? []);
  assert.equal(first, 'review', stdout);
  assert.equal((await trainyard(home, 'evaluate', '1')).code, 0);

  const other = path.join(home, 'other.csv');
  fs.writeFileSync(
    other,
    'review,stars\n"Soup: lovely, fresh and well packed",1\nTea was stale. Sent it back!,5\n,3\n',
  );
  const out = path.join(home, 'predictions.csv');
  await lastEvent(home, 'predict', '1', other, '--out', out);
  const lines = fs.readFileSync(out, 'utf8').trim().split('\n').slice(1);
  assert.deepEqual(
    lines.slice(0, 2).map((line) => line.split(',')[1]),
    ['yes', 'no'],
  );
  assert.equal(lines.length, 3, 'an empty text is a row as well');

  const refused = await trainyard(home, 'export', '1', '--format', 'pytorch', '--out', path.join(home, 'model'));
  assert.match(refused.stderr, /A linear model that reads texts cannot leave in this format/);
  const kept = path.join(home, 'run.json');
  assert.equal((await trainyard(home, 'export', '1', '--format', 'json', '--out', kept)).code, 0);
});

test('trees say that they cannot read texts, and go without', async () => {
  const trees = ['--target', 'liked', '--text', 'review', '--model', 'forest'];
  const { stdout, stderr, code } = await trainyard(home, 'train', table, ...trees);
  assert.equal(code, 0, stderr);
  assert.match(stdout + stderr, /review is left out: a random forest cannot read text/);
  const alone = path.join(home, 'alone.csv');
  fs.writeFileSync(alone, reviews(240).replaceAll(/^[^,]*,/gm, ''));
  const refused = await trainyard(home, 'train', alone, '--target', 'liked', '--model', 'forest');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /review is text, which a random forest cannot read/);
  assert.equal((await trainyard(home, 'train', table, '--target', 'liked', '--text', 'revew')).code, 2);
});

test('each fold has words of its own, and their mean predicts', async () => {
  const flags = ['--target', 'liked', '--text', 'review', '--model', 'linear', '--folds', '3'];
  const { run } = await lastEvent(home, 'train', table, ...flags);
  assert.equal((await trainyard(home, 'evaluate', String(run))).code, 0);
  const predicted = await lastEvent(home, 'predict', String(run), table);
  assert.equal((predicted.metrics as Record<string, number>).accuracy, 1);
});
