// A run that goes on from the command line: for longer, from its best weights, and what is said of both.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';

const home = temporaryHome({ after } as never);
const weightsOf = (run: number): Buffer => fs.readFileSync(path.join(home, 'runs', String(run), 'best.safetensors'));
const settings = [penguins, '--hidden', '16', '--device', 'cpu', '--patience', '0'];

test('10 epochs and 10 more are 20 in one go; both say where they come from', async () => {
  await lastEvent(home, 'train', ...settings, '--epochs', '10', '--name', 'short');
  const finished = await lastEvent(home, 'continue', '1', '--epochs', '+10');
  assert.deepEqual([finished.event, finished.run, finished.epochs], ['finished', 2, 20]);
  const whole = await lastEvent(home, 'train', ...settings, '--epochs', '20', '--schedule-epochs', '10');
  assert.deepEqual(finished.metrics, whole.metrics);
  assert.deepEqual(weightsOf(2), weightsOf(3));

  const shown = await trainyard(home, 'show', '2', '--log', '--metrics');
  assert.match(shown.stdout, /^Run 2: short \+10 \(completed\)$/m);
  assert.match(shown.stdout, /^ {2}family {4}continues run 1 from epoch 10$/m);
  assert.match(shown.stdout, /Goes on where run 1 was after 10 epochs, step \d+\./);
  assert.match((await trainyard(home, 'runs')).stdout, / continues run 1 from epoch 10$/m);
  const epochs = (await trainyard(home, 'show', '2', '--metrics', '--json')).events.filter(
    (event) => event.series === 'val_loss',
  );
  assert.deepEqual(
    epochs.map(({ epoch }) => epoch),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
});

test('from the best weights with another rate; and what cannot be', async () => {
  const best = (await lastEvent(home, 'show', '1')).result as { readonly bestEpoch: number };
  const more = ['--checkpoint', 'best', '--epochs', String(best.bestEpoch + 2), '--lr', '0.0001'];
  const finished = await lastEvent(home, 'continue', '1', ...more, '--name', 'slower');
  assert.equal(finished.epochs, best.bestEpoch + 2);
  const log = (await trainyard(home, 'show', '4', '--log')).stdout;
  assert.match(log, /The optimizer and the schedule begin anew\./);
  for (const [args, message] of [
    [['1'], /has done 10 epochs: there is nothing to do up to 10\. Give it more: --epochs \+10 makes it 20/],
    [['1', '--epochs', 'ten'], /Write \+10 for ten more/],
  ] as const) {
    const { code, stderr } = await trainyard(home, 'continue', ...args);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
});

test('another run begins with its weights, up to a layer, with layers frozen; what does not fit is refused', async () => {
  const from = [penguins, '--device', 'cpu', '--epochs', '2', '--from', '1'];
  const before = (await trainyard(home, 'runs', '--json')).events.length;
  const nothing = await trainyard(home, 'continue', '1', '--epochs', '+1', '--freeze', '99');
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /layers are frozen, or those that are not have no weights: there is nothing to train/);
  assert.equal((await trainyard(home, 'runs', '--json')).events.length, before, 'no run was made');
  const taken = await trainyard(home, 'train', ...from, '--freeze', '1', '--up-to', '1', '--name', 'other head');
  assert.equal(taken.code, 0, taken.stderr);
  assert.match(taken.stdout, /Layer 1 \(Dense\): taken from run 1, frozen\.\nLayer 2 \(Output\): new\./);
  assert.match((await trainyard(home, 'show', '5')).stdout, /^ {2}family {4}started from run 1, as of epoch \d+$/m);
  const compared = await trainyard(home, 'compare', '1', '5');
  assert.match(compared.stdout, /^beginning +– +started from run 1, as of epoch \d+, its first layer$/m);
  const wide = await trainyard(home, 'train', ...from, '--hidden', '8');
  assert.equal(wide.code, 2);
  assert.match(wide.stderr, /Layer 1 \(Dense\) does not fit: 0\.weight has to be \[\d+, 8\], run 1 has \[\d+, 16\]\./);
  assert.equal((await trainyard(home, 'runs', '--json')).events.length, 5, 'nothing is left of it');
});

test('another rate, and weights alone, have a schedule of their own over the epochs to come', async () => {
  for (const [flag, value, peak] of [
    ['--lr', '0.02', 0.02],
    ['--checkpoint', 'best', 0.003],
  ] as const) {
    const { events } = await trainyard(home, 'continue', '1', '--epochs', '+5', flag, value, '--json');
    const rates = events
      .filter(({ event }) => event === 'epoch')
      .map(({ metrics }) => (metrics as Record<string, number>)['learning_rate'] / peak);
    assert.ok(rates.length >= 5 && rates[0] > 0.9, `${flag}: it begins near its peak: ${rates.join(', ')}`);
    assert.ok(rates.every((rate, i) => i === 0 || rate < rates[i - 1]) && Math.abs(rates.at(-1)! - 0.01) < 1e-6);
  }
});

test('nothing begins with the weights of a cross-validation, which are those of several models', async () => {
  const { run } = await lastEvent(home, 'train', penguins, '--hidden', '4', '--epochs', '1', '--folds', '2');
  for (const args of [
    ['continue', String(run)],
    ['train', penguins, '--epochs', '1', '--from', String(run)],
  ]) {
    const { code, stderr } = await trainyard(home, ...args);
    assert.equal(code, 2, stderr);
    assert.match(
      stderr,
      /is a cross-validation, the mean of .* no one of them to go on with\. .*the run of a fold\.\n$/,
    );
  }
});

test('trees grow on: 6 and 4 more are 10 in one go, also of a run that had stopped early; what cannot be is said', async () => {
  const home = temporaryHome({ after } as never);
  const trees = (run: number): unknown =>
    (JSON.parse(fs.readFileSync(path.join(home, 'runs', String(run), 'model.json'), 'utf8')) as { trees: unknown })
      .trees;
  /** Those with a value a tree: a forest's training loss is that of its end alone. */
  const curves = async (run: number, model: string): Promise<unknown> =>
    (await trainyard(home, 'show', String(run), '--metrics', '--json')).events
      .filter(({ series }) => ['val_loss', model === 'boosted' ? 'train_loss' : 'oob_loss'].includes(String(series)))
      .map(({ series, step, value }) => [series, step, value]);
  let run = 0;
  for (const [model, ...flags] of [['boosted', '--patience', '0'], ['forest'], ['extra']]) {
    const settings = [penguins, '--model', model, '--threads', '1', ...flags];
    await lastEvent(home, 'train', ...settings, '--trees', '6');
    const more = await lastEvent(home, 'continue', String(run + 1), '--epochs', '+4');
    const whole = await lastEvent(home, 'train', ...settings, '--trees', '10');
    assert.deepEqual([more.epochs, more.metrics], [10, whole.metrics], model);
    assert.deepEqual(trees(run + 2), trees(run + 3), model);
    assert.deepEqual(await curves(run + 2, model), await curves(run + 3, model), model);
    run += 3;
  }
  assert.match((await trainyard(home, 'show', '2', '--log')).stdout, /Goes on where run 1 was after 6 trees\./);

  const early = [penguins, '--model', 'boosted', '--threads', '1', '--lr', '1'];
  const stopped = await lastEvent(home, 'train', ...early, '--trees', '60', '--patience', '2');
  assert.equal(stopped.reason, 'early_stopped');
  for (const [args, message] of [
    [['10', '--epochs', '+4'], /would stop again at once\. Give it more patience: --patience 0/],
    [['1', '--epochs', '6'], /has done 6 trees: there is nothing to do up to 6/],
    [['1', '--epochs', '+4', '--checkpoint', 'best'], /Trees go on from the last there are\./],
    [['1', '--epochs', '+4', '--lr', '0.2'], /Trees go on as they began: with another learningRate/],
  ] as const) {
    const { code, stderr } = await trainyard(home, 'continue', ...args);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
  await lastEvent(home, 'continue', '10', '--trees', String(Number(stopped.epochs) + 3), '--patience', '0');
  const trained = ['--trees', String(Number(stopped.epochs) + 3), '--patience', '0'];
  await lastEvent(home, 'train', ...early, ...trained);
  assert.deepEqual(trees(11), trees(12));
});
