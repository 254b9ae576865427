// Texts on the command line: a table of reviews is trained on, looked at, explained and used on another file.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { withReadings } from '../../engine/learners/text-readings.ts';
import { lastEvent, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';

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
  // Its weights leave, without the module that PyTorch has none of.
  for (const format of ['safetensors', 'mlflow']) {
    const { proven } = await lastEvent(home, 'export', '1', '--format', format, '--out', path.join(home, format));
    assert.ok(!(proven as readonly string[]).some((line) => line.includes('model.py')), format);
  }
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

test('a network that reads texts reads the numbers beside them, and none where there are none', async () => {
  const joined = async (...flags: readonly string[]): Promise<unknown> => {
    const { run } = await lastEvent(home, 'train', table, '--target', 'liked', '--epochs', '1', ...flags);
    const shown = (await lastEvent(home, 'show', String(run))) as {
      config: { model: { layers: { from: unknown }[] } };
    };
    return shown.config.model.layers.at(-2)?.from;
  };
  const wanted = ['pooled', 'input'];
  assert.deepEqual(await joined('--text', 'review'), wanted, 'the preset that is chosen by itself');
  assert.deepEqual(await joined('--text', 'review', '--model', 'text-cnn'), wanted);
  assert.notDeepEqual(await joined('--text', 'review', '--ignore', 'stars'), wanted);
});

test('each fold has words of its own, and their mean predicts', async () => {
  const flags = ['--target', 'liked', '--text', 'review', '--model', 'linear', '--folds', '3'];
  const { run } = await lastEvent(home, 'train', table, ...flags);
  assert.equal((await trainyard(home, 'evaluate', String(run))).code, 0);
  const predicted = await lastEvent(home, 'predict', String(run), table);
  assert.equal((predicted.metrics as Record<string, number>).accuracy, 1);
});

test('an ensemble says, too, which texts of a file or of rows its members do not read to their end', async (t) => {
  const long = path.join(home, 'long.csv');
  fs.writeFileSync(long, `stars,review,liked\n1,${'lovely fresh tea '.repeat(30)},yes\n2,stale soup,no\n`);
  const told = async (command: string, run: number): Promise<readonly string[]> => {
    const { warnings } = await lastEvent(home, command, String(run), long);
    return (warnings as readonly { code: string; message: string }[])
      .filter(({ code }) => code === 'cut_texts')
      .map(({ message }) => message);
  };
  const train = async (...flags: string[]): Promise<number> =>
    (await lastEvent(home, 'train', table, '--target', 'liked', '--text', 'review', ...flags)).run as number;
  const bag = ['--model', 'text-bag', '--epochs', '2'];
  const wanted =
    /^review: 1 of 2 texts is longer than the \d+( to \d+)? tokens( or \d+ characters)? that the model reads; the rest of it is not read\.$/;
  const [whole, folds, best] = [
    await train(...bag),
    await train(...bag, '--folds', '2'),
    await train('--model', 'auto', '--minutes', '0.05'),
  ];
  for (const run of [whole, folds]) {
    for (const command of ['predict', 'evaluate']) {
      const messages = await told(command, run);
      assert.equal(messages.length, 1, `${command} of run ${run}`);
      assert.match(messages[0], wanted);
    }
  }
  assert.equal((await told('predict', best)).length, 1);
  const refused = await trainyard(home, 'export', String(folds), '--format', 'onnx', '--out', path.join(home, 'no'));
  const words = /each in its own way.*Export one of its folds, a run of its own, or ask it here: trainyard serve/;
  assert.match(refused.stderr.replaceAll(/\s+/g, ' '), words);
  assert.equal(refused.code, 1);
  const { stderr } = await trainyard(home, 'export', String(folds), '--format', 'mlflow');
  assert.match(stderr, /holds one model alone\. It leaves as Report, TensorBoard or Specification;/);
  for (const run of [folds + 1, best]) {
    const out = path.join(home, `${run}.onnx`);
    const { certificate } = await lastEvent(home, 'export', String(run), '--format', 'onnx', '--out', out);
    assert.ok((certificate as { readonly passed: boolean }).passed);
    assert.ok(fs.existsSync(path.join(home, `${run}.tokens.py`)));
  }
  const log = path.join(home, 'log');
  await lastEvent(home, 'export', String(best), '--format', 'mlflow', '--out', log);
  const kept = fs.readdirSync(log, { recursive: true, encoding: 'utf8' }).map((name) => path.basename(name));
  for (const name of ['model.json', 'model.onnx', 'tokens.py', 'tokenizer.json']) assert.ok(kept.includes(name), name);
  const running = startTrainyard(home, ['serve', String(folds), '--json']);
  t.after(() => running.child.kill('SIGKILL'));
  const { address, token } = (await running.event('serving')) as Record<'address' | 'token', string>;
  const rows = [
    { stars: 1, review: 'lovely fresh tea '.repeat(30) },
    { stars: 2, review: 'stale soup' },
  ];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${address}/predict`, { method: 'POST', headers, body: JSON.stringify({ rows }) });
  const { warnings } = (await answer.json()) as { readonly warnings: readonly string[] };
  assert.match(warnings.join(), wanted);
});

test('a text counts as cut only for models that read it', () => {
  const text = { kind: 'text', column: 'said', missing: [], characters: 9, tokenizer: {}, vocabulary: 3, length: 2 };
  const recipe = { features: [{ kind: 'boolean', column: 'b' }, text], form: 'columns' };
  const input = { kind: 'table', texts: [{ name: 'said', vocabulary: 4, length: 2 }] };
  const network = (type: string): object => ({ input, model: { layers: [{ type }] } });
  const readings = (...models: readonly object[]): unknown => {
    const told = withReadings(
      { recipe, members: [{ models }] },
      { ...recipe, features: [{ ...text, tokenizer: null }] },
    );
    return (told as { features: { readings: unknown }[] }).features[0].readings;
  };
  const own = { tokenizer: {}, characters: 9, length: 2 };
  assert.deepEqual(readings(network('dense'), { input: { kind: 'columns', columns: [] } }), []);
  assert.deepEqual(readings(network('dense'), network('token_embedding'), { input }), [own]);
});
