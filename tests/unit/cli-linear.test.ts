// A linear model from the command line: trained, shown, compared, put to use, exported; and flags that mean nothing for it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { formatNumber } from '../../electron/cli/output.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import { lastEvent, penguins, tables, temporaryHome, trainyard } from '../support/cli.ts';

const root = path.resolve(import.meta.dirname, '../..');
const home = temporaryHome({ after } as never);

/** The commands of the page for those who come from elsewhere, in their order; what they write stands in the home. */
const page = fs.readFileSync(path.join(root, 'docs/from-keras-and-scikit-learn.md'), 'utf8');
const commands = [...page.matchAll(/^trainyard (.+)$/gm)].map(([, words]) =>
  words.split(' ').map((word, at, all) => (all[at - 1] === '--out' ? path.join(home, word) : word)),
);

test('the commands for those who come from scikit-learn: a linear model is trained, compared, judged, put to use, exported, shown', async () => {
  const done = new Map<string, Record<string, unknown>>();
  for (const [name, ...words] of commands) {
    const event = await lastEvent(home, name, ...words);
    if (!done.has(name)) done.set(name, event);
  }
  assert.deepEqual([...done.keys()], ['train', 'compare', 'evaluate', 'predict', 'export']);
  const finished = done.get('train') as { readonly metrics: Record<string, number>; readonly remark: string };
  assert.ok(finished.metrics.val_accuracy > 0.9, JSON.stringify(finished.metrics));
  assert.match(finished.remark, /^penalty [\d.e-]+, the best of \d by the validation rows$/);

  assert.ok(fs.existsSync(path.join(home, 'penguins.check.json')), 'its certificate');

  const shown = await trainyard(home, 'show', '1', '--log');
  assert.match(shown.stdout, /^ {2}model {5}linear, 45 parameters$/m);
  assert.match(shown.stdout, /^ {2}training {2}penalty chosen by what validates best, seed 1$/m);
  assert.match(shown.stdout, /^ {2}result {4}completed after penalty .+ by the validation rows, /m);
  assert.match(shown.stdout, /^ {2}phases {4}preparing .*training [\d.]+ s.*baseline [\d.]+ s$/m);
  assert.match(
    shown.stdout,
    /^ {2}memory {4}its process held \d+(\.\d)? MB at most, the rows alone took [\d.]+ [kM]?B$/m,
  );
  assert.doesNotMatch(shown.stdout, / 0 training rows/);
  assert.match(shown.stdout, /A linear model is solved on the CPU, on one thread\./);
  assert.match((await trainyard(home, 'runs')).stdout, / linear +cpu +– /);

  assert.ok((done.get('predict')?.metrics as Record<string, number>).accuracy > 0.97);
  assert.match(
    fs.readFileSync(path.join(home, 'predicted.csv'), 'utf8'),
    /^row,prediction,p\(Adelie\),p\(Chinstrap\),p\(Gentoo\)\n1,Adelie,/,
  );

  const file = path.join(home, 'linear.json');
  await lastEvent(home, 'export', '1', '--format', 'json', '--out', file);
  const exported = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    readonly learner: string;
    readonly penalty: number;
    readonly weights: Record<string, { readonly shape: readonly number[] }>;
  };
  assert.deepEqual([exported.learner, exported.weights['output.weight'].shape], ['linear', [3, 14]]);
  await lastEvent(home, 'export', '1', '--format', 'safetensors', '--out', path.join(home, 'linear.safetensors'));
});

test('numbers too, with a penalty as set; compared with the first', async () => {
  const table = path.join(tables, 'diabetes.csv');
  const finished = await lastEvent(home, 'train', table, '--model', 'linear', '--penalty', '10', '--seed', '4');
  assert.equal(finished.remark, 'penalty 10, as set');
  assert.ok((finished.metrics as Record<string, number>).val_r2 > 0.3);
  const { settings } = (await lastEvent(home, 'compare', '1', '3')) as { readonly settings: Record<string, unknown> };
  assert.deepEqual(settings.penalty, ['0', '10']);
  assert.deepEqual(settings.seed, ['1', '4']);
});

test('a network ends with what it has to beat: a linear model, and always the same answer', async () => {
  const flags = ['--epochs', '5', '--seed', '1', '--hidden', '8'];
  const { stdout, code } = await trainyard(home, 'train', penguins, ...flags);
  assert.equal(code, 0);
  const event = (await lastEvent(home, 'show', '4')) as { readonly result: RunResult };
  const { metrics, baseline } = event.result;
  assert.equal(baseline?.constant.answer, 'Adelie');
  const [own, linear, constant] = [metrics, baseline.linear!.metrics, baseline.constant.metrics].map(
    ({ val_accuracy }) => formatNumber(val_accuracy),
  );
  const said = `val accuracy ${own}, a linear model gets ${linear}, always guessing “Adelie” ${constant}`;
  assert.ok(stdout.includes(`${said}.`), stdout);
  assert.ok((await trainyard(home, 'show', '4')).stdout.includes(`  to beat   ${said}`));

  const alone = (await lastEvent(home, 'show', '1')) as { readonly result: RunResult };
  assert.deepEqual(linear, formatNumber(alone.result.metrics.val_accuracy), 'the same rows, the same model');
  assert.equal(alone.result.baseline?.linear, null);
  const compared = (await lastEvent(home, 'compare', '1', '4', '--all')) as { readonly baselines: object };
  assert.deepEqual(compared.baselines, {
    linear_val_accuracy: [null, baseline.linear!.metrics.val_accuracy],
    constant_val_accuracy: [constant, constant].map(() => baseline.constant.metrics.val_accuracy),
    linear_test_accuracy: [null, baseline.linear!.metrics.test_accuracy],
    constant_test_accuracy: [constant, constant].map(() => baseline.constant.metrics.test_accuracy),
  });
});

test('what means nothing is refused', async () => {
  const refused = async (...flags: readonly string[]): Promise<string> => {
    const { code, stderr } = await trainyard(home, 'train', penguins, ...flags);
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(await refused('--model', 'linear', '--epochs', '3'), /--epochs means nothing for a linear model/);
  assert.match(await refused('--penalty', '3'), /--penalty means nothing for a network/);
  assert.match(await refused('--model', 'linear', '--device', 'gpu'), /it trains on the CPU, not on the GPU/);
});
