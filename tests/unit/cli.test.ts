// The command line end to end: from a file to a run that is listed, shown, compared, used and exported.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { helpOf } from '../../electron/cli/command.ts';
import { commands } from '../../electron/cli/commands.ts';
import { costOf, costWords, electricityOf } from '../../engine/hardware/bill.ts';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import type { RunProgress } from '../../engine/protocol/runs.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { lastEvent, penguins, tables, temporaryHome, trainyard } from '../support/cli.ts';

const iris = path.join(tables, 'iris.csv');

test('help lists every command, and each has its own', async (t) => {
  const home = temporaryHome(t);
  const overview = await trainyard(home, '--help');
  assert.equal(overview.code, 0);
  const names = [...overview.stdout.matchAll(/^ {2}([a-z-]+) /gm)].map((match) => match[1]);
  const promised = ['inspect', 'train', 'runs', 'show', 'compare', 'delete', 'predict', 'devices', 'bench', 'export'];
  assert.deepEqual(
    promised.filter((name) => !names.includes(name)),
    [],
  );
  assert.deepEqual(names, Object.keys(commands));
  for (const [name, load] of Object.entries(commands)) {
    const help = helpOf(await load());
    assert.match(help, new RegExp(`usage: trainyard ${name}`));
    assert.match(help, /--json/);
    const narrow = helpOf(await load(), 60);
    for (const line of narrow.split('\n')) {
      const words = line.trim().split(' ').slice(1).join(' ');
      assert.ok(line.length <= 60 || /^(usage:|--)/.test(line.trim()) || words === '', line);
    }
    const told = (text: string): string => text.replace(/\s+/g, ' ');
    assert.equal(told(narrow), told(help));
  }
  assert.match((await trainyard(home, 'train', '--help')).stdout, /--target NAME/);
});

test('inspect tells columns, target, warnings and a sample', async (t) => {
  const home = temporaryHome(t);
  const event = await lastEvent(home, 'inspect', penguins, '--rows', '2', '--types', 'sex=text');
  assert.equal(event.event, 'dataset');
  assert.equal(event.rows, 344);
  assert.equal((event.sample as unknown[]).length, 2);
  const columns = event.columns as { name: string; type: string; overridden: boolean; reason: string }[];
  const sex = columns.find((column) => column.name.toLowerCase() === 'sex')!;
  assert.deepEqual([sex.type, sex.overridden], ['text', true]);
  assert.ok(columns.every((column) => column.reason.length > 0));
  assert.deepEqual(event.left_out, [{ column: sex.name, reason: 'text' }]);
  assert.deepEqual(
    [event.source_bytes, event.split],
    [statSync(penguins).size, { train: 275, validation: 35, test: 34 }],
  );
});

test('train, then everything that can be done with runs', async (t) => {
  const home = temporaryHome(t);
  const { code, stdout, events } = await trainyard(
    home,
    'train',
    iris,
    '--model',
    'small',
    '--epochs',
    '60',
    '--patience',
    '0',
    '--name',
    'first',
    '--json',
  );
  assert.equal(code, 0);
  assert.ok(
    stdout
      .split('\n')
      .filter(Boolean)
      .every((line) => line.startsWith('{')),
    'only JSON on standard output',
  );
  assert.deepEqual(events[0], { event: 'started', run: 1 });
  const epochs = events.filter((event) => event.event === 'epoch');
  assert.equal(epochs.length, 60);
  assert.deepEqual(Object.keys(epochs[0].metrics as object).sort(), [
    'learning_rate',
    'train_loss',
    'val_accuracy',
    'val_balanced_accuracy',
    'val_f1',
    'val_loss',
    'val_roc_auc',
  ]);
  const finished = events.at(-1)!;
  assert.equal(finished.event, 'finished');
  const metrics = finished.metrics as Record<string, number>;
  for (const name of ['train_loss', 'val_loss', 'val_accuracy', 'test_loss', 'test_accuracy']) {
    assert.equal(typeof metrics[name], 'number', name);
  }
  assert.deepEqual(
    Object.keys(finished).filter((key) => ['device', 'epochs', 'steps', 'seconds', 'examples_per_second'].includes(key))
      .length,
    5,
  );

  await lastEvent(home, 'train', iris, '--epochs', '5', '--hidden', '8', '--optimizer', 'sgd', '--name', 'second');
  const listed = await trainyard(home, 'runs', '--json');
  assert.deepEqual(
    listed.events.map((event) => [event.run, event.name, event.state]),
    [
      [2, 'second', 'completed'],
      [1, 'first', 'completed'],
    ],
  );
  const shown = await lastEvent(home, 'show', '1');
  assert.equal(shown.name, 'first');
  const { secondsElapsed, secondsTraining } = shown.progress as Record<string, number>;
  assert.deepEqual([finished.elapsed_seconds, finished.seconds], [secondsElapsed, secondsTraining]);
  assert.ok(secondsElapsed > secondsTraining);
  const inWords = await trainyard(home, 'show', '1');
  assert.match(inWords.stdout, /split +120 rows train, 15 validate, 15 test\n +left out +nothing\n/);
  assert.match(inWords.stdout, /adamw 0\.003, weight decay 1 × learning rate a step, /);
  const cost = costOf((shown.progress as RunProgress).bill!, electricityOf(null), readCatalogue().catalogue)!;
  assert.ok(inWords.stdout.includes(`${costWords(cost)}. ${cost.how}`), inWords.stdout);
  const spent = (await trainyard(home, 'costs', '--json', '--grid', '56')).events;
  assert.deepEqual(
    spent.map(({ month, runs, unknown_runs }) => [month === 'all', runs, unknown_runs]),
    [
      [false, 2, 0],
      [true, 2, 0],
    ],
  );
  const [, all] = spent as readonly Record<string, number>[];
  assert.ok(Math.abs(all.carbon_kg / (all.kwh * 0.056) - 1) < 1e-9 && all.seconds > secondsElapsed);
  assert.match((await trainyard(home, 'costs')).stdout, /^At 0\.18 USD and 56 g CO₂ a kWh/m, 'kept');
  assert.match(inWords.stdout, new RegExp(`weights +of epoch ${finished.best_epoch}, `));
  const comparison = await lastEvent(home, 'compare', '1', '2');
  const settings = comparison.settings as Record<string, unknown>;
  const costs = comparison.costs as Record<string, readonly number[]>;
  assert.equal(costs.elapsed_seconds[0], secondsElapsed);
  assert.ok('optimizer.name' in settings && 'epochs' in settings && !('batch' in settings));
  const side = await trainyard(home, 'compare', '1', '2', '--all');
  assert.match(side.stdout, /^layer 1 +Dense \d+ ReLU +Dense \d+ ReLU$/m, 'a model in words, a line a layer');
  assert.doesNotMatch(side.stdout, /"type"/);

  assert.equal((await trainyard(home, 'delete', '2')).code, 0);
  assert.deepEqual(
    (await trainyard(home, 'runs', '--json')).events.map((event) => event.run),
    [1],
  );
  assert.equal((await trainyard(home, 'delete', '2', '--restore')).code, 0);
  assert.deepEqual(
    (await trainyard(home, 'runs', '--json')).events.map((event) => event.run),
    [2, 1],
  );

  const out = path.join(home, 'predictions.csv');
  const predicted = await lastEvent(home, 'predict', '1', iris, '--out', out);
  assert.equal(predicted.rows, 150);
  const lines = readFileSync(out, 'utf8').trim().split('\n');
  assert.equal(lines.length, 151);
  assert.match(lines[0], /^row,prediction,p\(setosa\),p\(versicolor\),p\(virginica\)$/);
  assert.ok((predicted.metrics as Record<string, number>).accuracy > 0.9);

  const weights = path.join(home, 'weights.safetensors');
  await lastEvent(home, 'export', '1', '--format', 'safetensors', '--out', weights);
  const { tensors, metadata } = decodeSafetensors(readFileSync(weights));
  assert.deepEqual(tensors['0.weight'].shape, [64, 4], 'as PyTorch: [out, in]');
  assert.match(metadata['trainyard.preprocessing'], /setosa|sepal/);
  const json = path.join(home, 'run.json');
  await lastEvent(home, 'export', '1', '--format', 'json', '--out', json);
  const exported = JSON.parse(readFileSync(json, 'utf8')) as { weights: Record<string, { values: number[] }> };
  assert.equal(exported.weights['0.bias'].values.length, 64);
});

test('same seed and thread count, same run; in parts it is the same but for rounding', async (t) => {
  const home = temporaryHome(t);
  const same = ['--model', 'small', '--epochs', '8', '--threads', '2', '--seed', '11', '--batch', '32'];
  const run = (...more: readonly string[]) => lastEvent(home, 'train', iris, ...same, ...more);
  const [a, b, parts] = [await run(), await run(), await run('--accumulate', '4')];
  assert.deepEqual(a.metrics, b.metrics);
  assert.equal(parts.steps, a.steps);
  const [whole, summed] = [a, parts].map(({ metrics }) => (metrics as Record<string, number>).val_loss);
  assert.ok(Math.abs(whole - summed) < 1e-4, `${summed} in parts, ${whole} at once`);
  assert.notEqual(summed, whole);
});

test('a training that diverges ends with exit code 1, with what it keeps and what to do', async (t) => {
  const home = temporaryHome(t);
  const wild = ['--hidden', '', '--optimizer', 'sgd', '--lr', '0.6', '--momentum', '0', '--schedule', 'constant'];
  const options = ['--target', 'sepal_length', '--task', 'regression', ...wild, '--epochs', '500', '--patience', '0'];
  const { code, events, stderr } = await trainyard(home, 'train', iris, ...options, '--json');
  assert.equal(code, 1);
  const finished = events.at(-1)!;
  const step = finished.diverged_at_step as number;
  assert.deepEqual([finished.event, finished.reason, finished.steps], ['finished', 'diverged', step]);
  const best = finished.best_epoch as number;
  assert.ok(best >= 1 && best < (finished.epochs as number));
  assert.match(
    stderr,
    new RegExp(`Run 1: The loss became .* at step ${step}\\. The weights of epoch ${best} are kept\\. Train again`),
  );
  const shown = await trainyard(home, 'show', '1');
  assert.match(shown.stdout, /\(diverged\)/);
  assert.match(shown.stdout, /lower learning rate \(it is 0\.6\)/);
  const predicted = await lastEvent(home, 'predict', '1', iris, '--force');
  assert.equal(predicted.rows, 150);
  const resumed = await trainyard(home, 'train', '--resume', '1');
  assert.equal(resumed.code, 2);
  assert.match(resumed.stderr, /Run 1 is diverged: it cannot be resumed\. It would diverge again/);
});

test('boosted trees that diverge keep the best of them, and do not go on', async (t) => {
  const home = temporaryHome(t);
  const wild = ['--model', 'boosted', '--lr', '100', '--trees', '400', '--patience', '0'];
  const regression = ['--target', 'sepal_length', '--task', 'regression'];
  const { code, events, stderr } = await trainyard(home, 'train', iris, ...regression, ...wild, '--json');
  assert.equal(code, 1);
  const { reason, diverged_at_step: step, best_epoch: best, metrics } = events.at(-1)!;
  assert.equal(reason, 'diverged');
  assert.match(
    stderr,
    new RegExp(
      `The loss became .* at tree ${step as number}\\. What it was after tree ${best as number} is kept\\. Train`,
    ),
  );
  assert.ok(Object.values(metrics as object).every(Number.isFinite), JSON.stringify(metrics));
  assert.equal((await lastEvent(home, 'predict', '1', iris, '--force')).rows, 150);
  const more = await trainyard(home, 'continue', '1', '--epochs', '+10');
  assert.equal(more.code, 2);
  assert.match(more.stderr, /It diverged at a learning rate of 100: .* Train it again with a lower learning rate/s);
});

test('devices lists the CPU with its facts', async (t) => {
  const { code, events } = await trainyard(temporaryHome(t), 'devices', '--json');
  assert.equal(code, 0);
  assert.equal(events[0].kind, 'cpu');
  assert.ok('cores' in (events[0].facts as object));
  assert.ok(events.filter((event) => event.software).every((event) => event.kind === 'gpu'));
});

test('bench times a workload and says in which unit', async (t) => {
  const { code, events } = await trainyard(temporaryHome(t), 'bench', '--only', 'gemm-64', '--json');
  assert.equal(code, 0);
  const [row] = events;
  assert.equal(row.workload, 'gemm-64');
  assert.ok(Number(row.value) > 0 && Number(row.gflops) > 0 && row.unit === 'ms/step');
});

test('bench --profile tells where a step goes, call by call; a product is one call', async (t) => {
  const home = temporaryHome(t);
  const { code, events } = await trainyard(
    home,
    'bench',
    '--profile',
    '--only',
    'tabular-mlp',
    '--threads',
    '1',
    '--json',
  );
  assert.equal(code, 0);
  const [whole, ...calls] = events;
  assert.equal(whole.calls, calls.length);
  assert.ok(Number(whole.step) > 0 && Number(whole.least) > 0);
  assert.ok(Math.abs(calls.reduce((sum, { share }) => sum + Number(share), 0) - 1) < 1e-9);
  assert.deepEqual([calls[0].layer, calls[0].phase, calls[0].kernel], ['data', 'forward', 'gather_rows']);
  const refused = await trainyard(home, 'bench', '--profile', '--only', 'gemm-64');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /gemm-64 is one call/);
});

test('bench times trees on made-up rows, in turns with a peer that says what it took', async (t) => {
  const line = JSON.stringify({ peer: 'other', workload: 'predict', value: 5000, cpu: 4000, threads: 1 });
  const rows = ['--suite', 'tables', '--only', 'predict', '--rows', '400', '--threads', '1'];
  const peer = `node -e "console.log(process.argv.includes('400') ? process.argv[1] : '')" -- '${line}'`;
  const home = temporaryHome(t);
  const file = path.join(home, 'table.json');
  const words = ['bench', ...rows, '--peer', peer, '--rounds', '2', '--out', file, '--json'];
  const { code, events } = await trainyard(home, ...words);
  assert.equal(code, 0);
  const [row] = events;
  assert.deepEqual([events.length, row.workload, row.rows, row.columns], [1, 'predict', 400, 28]);
  assert.ok(Number(row.value) > 0 && Number(row.cpu) > 0 && row.unit === 'ms/prediction');
  assert.ok((row.ratios as Record<string, number>)['other ×1'] > 0);
  assert.ok((row.cpuRatios as Record<string, number>)['other ×1'] > 0);
  assert.deepEqual((JSON.parse(readFileSync(file, 'utf8')) as { rows: unknown }).rows, events);
});

const refusals: readonly { readonly name: string; readonly args: readonly string[]; readonly message: RegExp }[] = [
  { name: 'unknown command', args: ['tarin'], message: /no command “tarin”. Did you mean “train”\?.*--help/ },
  { name: 'a command like none', args: ['hovercraft'], message: /no command “hovercraft”. See .*--help/ },
  {
    name: 'no workload of the suite',
    args: ['bench', '--suite', 'tables', '--only', 'gemm-64'],
    message: /boosted, predict, forest/,
  },
  { name: 'unknown option', args: ['train', iris, '--epoch', '3'], message: /--epoch.*train --help/ },
  { name: 'missing file', args: ['train', '/nowhere/data.csv'], message: /data\.csv/ },
  { name: 'no file', args: ['train'], message: /needs a file/ },
  { name: 'epochs no number', args: ['train', iris, '--epochs', 'ten'], message: /--epochs is “ten”.*whole number/ },
  {
    name: 'split that does not sum to 1',
    args: ['train', iris, '--split', '0.8,0.3,0.1'],
    message: /--split.*sum to 1/,
  },
  { name: 'unknown target', args: ['train', iris, '--target', 'speices'], message: /speices/ },
  { name: 'unknown preset', args: ['train', iris, '--model', 'huge'], message: /no preset “huge”.*small/ },
  { name: 'unknown type', args: ['inspect', iris, '--types', 'target=colour'], message: /--types.*category/ },
  { name: 'no such run', args: ['show', '99'], message: /99/ },
  { name: 'no run number', args: ['show', 'first'], message: /no run number/ },
];

for (const { name, args, message } of refusals) {
  test(`refused with exit code 2: ${name}`, async (t) => {
    const home = temporaryHome(t);
    const { code, stdout, stderr } = await trainyard(home, ...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1, 'one message');
    assert.equal(stdout.includes('started'), false);
    assert.deepEqual((await trainyard(home, 'runs', '--json')).events, [], 'no half-made run');
  });
}
