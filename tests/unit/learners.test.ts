// The seam of learners: whatever learns opens on a job, goes on by a budget and ends with a result; what it says of itself is all
// that others know of it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { formOf } from '../../engine/data/prepare.ts';
import { baselineOf } from '../../engine/learners/baseline.ts';
import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import {
  checkLearner,
  configWith,
  declarationOf,
  formatsOf,
  usualSettings,
} from '../../engine/learners/declared/registry.ts';
import { declaration as boosted } from '../../engine/learners/boosted/declaration.ts';
import { declaration as forest } from '../../engine/learners/forest/declaration.ts';
import { declaration as linear } from '../../engine/learners/linear/declaration.ts';
import { readModelFile } from '../../engine/learners/model-file.ts';
import type { StartedEvent } from '../../engine/learners/learner.ts';
import { trainedOn } from '../../engine/model/presets.ts';
import { predictRows, readTrained } from '../../engine/learners/predict.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { baselineWords } from '../../engine/protocol/baseline.ts';
import { pretrainedDataset } from '../../engine/protocol/pretrained.ts';
import type { MetricPoint, RunConfig, RunFile, RunResult, TrainingProgress } from '../../engine/protocol/runs.ts';
import { learnerLists } from '../../scripts/list-learners.ts';
import { RunControl } from '../../engine/train/control.ts';
import { makeTable } from '../support/table.ts';
import { exampleConfig } from './fixtures/history.ts';
import { linearConfig, tableConfig } from './fixtures/training.ts';

const table = makeTable({ rows: 120, numeric: 3, classes: 2 });

const columns = ['a', 'b', 'c'].map((name) => ({ name, kind: 'number' }) as const);

interface Outcome {
  readonly advances: number;
  readonly points: readonly MetricPoint[];
  /** As last reported. */
  readonly progress: TrainingProgress | null;
  readonly result: RunResult;
  readonly started: readonly StartedEvent[];
  readonly paused: readonly boolean[];
  readonly files: ReadonlyMap<RunFile, Uint8Array>;
}

interface Wishes {
  readonly checkpoint?: Uint8Array;
  /** The clock runs so much faster: a slice of work is so much shorter. */
  readonly haste?: number;
  /** Called whenever messages are let in, with how often that was. */
  readonly onBreath?: (breath: number, control: RunControl) => void;
  /** Columns as they are, as trees take them. */
  readonly asTheyAre?: boolean;
  /** Called with the steps done. */
  readonly onStep?: (step: number, control: RunControl) => unknown;
}

/** Trains to the end in slices of so many milliseconds. */
async function learn(
  config: RunConfig,
  slice: number,
  { checkpoint, haste = 1, asTheyAre = false, onBreath, onStep }: Wishes = {},
): Promise<Outcome> {
  const points: MetricPoint[] = [];
  let progress: TrainingProgress | null = null;
  const started: StartedEvent[] = [];
  const paused: boolean[] = [];
  const files = new Map<RunFile, Uint8Array>();
  const control = new RunControl();
  let breaths = 0;
  const training = await learnerNamed(config.learner).open({
    config,
    data: asTheyAre ? { ...table.data, input: { kind: 'columns', columns }, preprocessing: {} } : table.data,
    readShard: table.readShard,
    dataBudget: 1e9,
    backend: async () => createReferenceBackend(),
    control,
    checkpoint,
    surroundings: {
      clock: () => haste * performance.now(),
      now: () => Date.now(),
      breathe: () => {
        onBreath?.(++breaths, control);
        return new Promise((resolve) => setImmediate(resolve));
      },
    },
    events: {
      onStarted: (event) => started.push(event),
      onReport: (event) => {
        points.push(...event.points);
        progress = event.progress;
        onStep?.(event.progress.step, control);
      },
      onLog: () => undefined,
      onPaused: (event) => {
        paused.push(event.paused);
        if (event.paused) setImmediate(() => control.resume());
      },
      onFile: ({ file, data }) => void files.set(file, data),
    },
  });
  let advances = 1;
  while (await training.advance(slice)) advances++;
  return { advances, points, progress, result: training.result(), started, paused, files };
}

test('a network comes to the same bits by any budget, and starts once', async () => {
  const whole = await learn(tableConfig(4), 60_000);
  const sliced = await learn(tableConfig(4), 0);
  assert.equal(whole.advances, 1);
  assert.ok(sliced.advances > 8, `${sliced.advances} slices`);
  const curve = ({ points }: Outcome): unknown => points.map(({ series, step, value }) => [series, step, value]);
  assert.deepEqual(curve(sliced), curve(whole));
  assert.deepEqual(sliced.result.metrics, whole.result.metrics);
  assert.deepEqual([sliced.started.length, sliced.started[0].step], [1, 0]);
});

const common = { dataset: 'made', settings: {}, device: 'cpu', threads: 0, seed: 3 } as const;

test('a linear model comes to the same bits by any budget, through a pause, and resumed after a stop', async () => {
  const config = linearConfig(common);
  const whole = await learn(config, 60_000);
  assert.ok(whole.result.metrics.val_accuracy > 0.7, JSON.stringify(whole.result.metrics));
  assert.match(whole.result.remark ?? '', /^penalty .+, the best of \d by the validation rows$/);
  assert.deepEqual([whole.result.device, whole.result.threads, whole.result.epochs > 2], ['cpu', 1, true]);

  const sliced = await learn(config, 0, {
    haste: 1_000,
    onBreath: (breath, control) => breath === 3 && control.pause(),
  });
  assert.ok(sliced.advances > 5, `${sliced.advances} slices`);
  assert.deepEqual(sliced.paused, [true, false]);
  assert.deepEqual(sliced.files.get('best.safetensors'), whole.files.get('best.safetensors'));

  const stopped = await learn(config, 0, {
    haste: 1_000,
    onStep: (step, control) => step > 1 && control.stop(),
  });
  assert.equal(stopped.result.reason, 'stopped');
  assert.ok(stopped.result.steps > 1, 'there is something to pick up');
  assert.ok(stopped.result.metrics.val_accuracy >= 0, 'what there is so far is scored');
  const resumed = await learn(config, 60_000, { checkpoint: stopped.files.get('checkpoint.bin') });
  assert.equal(resumed.started[0].step, stopped.result.steps);
  assert.equal(resumed.result.reason, 'completed');
  assert.deepEqual(resumed.files.get('best.safetensors'), whole.files.get('best.safetensors'));
  assert.deepEqual(resumed.result.metrics, whole.result.metrics);
});

test('one that is stopped says how far of its plan it came, one that ends how much there was', async () => {
  for (const declared of [linear, boosted, forest]) {
    const config = configWith(
      declared,
      common,
      usualSettings(declared, trainedOn(96, 'classification', { classes: 2 })),
    );
    const planned = declarationOf(config).units(config);
    const asTheyAre = declared !== linear;
    const onStep = (step: number, control: RunControl): unknown => step > 1 && control.stop();
    const { result, progress } = await learn(config, 0, { haste: 1_000, asTheyAre, onStep });
    assert.equal(result.reason, 'stopped', config.learner);
    assert.deepEqual([progress?.step, progress?.steps], [result.steps, planned], config.learner);
    assert.ok(result.steps < planned, config.learner);
    const whole = await learn(config, 60_000, { asTheyAre });
    assert.deepEqual([whole.progress?.step, whole.progress?.steps], [whole.result.steps, whole.result.steps]);
  }
});

test('a linear model predicts what it was scored with, and opens no device', async () => {
  const { files, result } = await learn(linearConfig(common), 1_000);
  const text = new TextDecoder().decode(files.get('model.json'));
  const trained = readTrained(text, files.get('best.safetensors')!, 1);
  const { counts } = table.data;
  const end = counts.train + counts.validation;
  const only = {
    ...table.data,
    counts: { train: 0, validation: 0, test: counts.validation },
    shardStarts: [0, counts.validation],
  };
  const width = table.data.width;
  const readShard = async () => ({
    rows: counts.validation,
    x: table.x.slice(counts.train * width, end * width),
    y: table.y.slice(counts.train, end),
  });
  const refuses = async (): Promise<never> => assert.fail('no device is needed');
  const predicted = await predictRows(trained, { data: only, readShard, dataBudget: 1e9, backend: refuses });
  assert.equal(predicted.evaluation?.metrics.loss, result.metrics.val_loss);
  assert.equal(predicted.evaluation?.metrics.accuracy, result.metrics.val_accuracy);
  assert.throws(() => readTrained(text.replace('"numeric":3', '"numeric":4'), files.get('best.safetensors')!, 1), {
    code: 'model.weights',
  });
});

test('a divergence is a result; what goes wrong reaches whoever advances or opens', async () => {
  const config = tableConfig(2);
  const optimizer = { ...config.training.optimizer, name: 'sgd' as const, learningRate: 1e30 };
  const diverging = { ...config, training: { ...config.training, optimizer } };
  assert.equal((await learn(diverging, 0)).result.reason, 'diverged');
  const layers = [{ type: 'conv2d', filters: 2, kernel: 3 }, { type: 'output' }];
  const convolving: NetworkConfig = { ...config, model: { version: 1, layers } };
  await assert.rejects(learn(convolving, 0), /image|conv/i);
});

test('what a run has to beat: the linear model itself, the answer of most rows; that alone where there is no time', async () => {
  const surroundings = {
    clock: () => performance.now(),
    breathe: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  const { data, readShard } = table;
  const enough = { surroundings, work: 1e9, within: Infinity };
  const known = await baselineOf({ data, readShard, learner: 'network', ...enough });
  const { result } = await learn(linearConfig(common), 60_000);
  assert.deepEqual(known?.linear?.metrics, result.metrics);
  const most = data.classCounts.indexOf(Math.max(...data.classCounts));
  assert.equal(known?.constant.answer, `class ${most}`);
  const { counts } = data;
  const validated = table.y.subarray(counts.train, counts.train + counts.validation);
  const share = validated.filter((target) => target === most).length / counts.validation;
  assert.equal(known?.constant.metrics.val_accuracy, share);
  assert.equal((await baselineOf({ data, readShard, learner: 'linear', ...enough }))?.linear, null);

  const numbers = makeTable({ rows: 120, numeric: 3, classes: 0 });
  const inMetres = { ...numbers.data, output: { kind: 'value', name: 'height', offset: 170, scale: 8 } as const };
  const ofNumbers = { data: inMetres, readShard: numbers.readShard, learner: 'linear', ...enough };
  const mean = numbers.y.subarray(0, 96).reduce((sum, target) => sum + target / 96, 0);
  const { answer } = (await baselineOf(ofNumbers))!.constant;
  assert.ok(Math.abs(Number(answer) - (170 + 8 * mean)) < 1e-5, `${answer} in the target's own unit`);

  // The clock jumps ahead once the rows are being read.
  let [time, reads] = [0, 0];
  const late = { ...surroundings, clock: () => time };
  const slowly = async (shard: number) => {
    if (++reads === 1) time = 1_000;
    return readShard(shard);
  };
  const until = { ...enough, surroundings: late, within: 500 };
  const hurried = await baselineOf({ data, readShard: slowly, learner: 'network', ...until });
  assert.equal(hurried?.linear, null);
  assert.equal(hurried?.constant.metrics.val_accuracy, share);

  // A clock that always jumps ahead, of a machine that does other things: the same model, to the bit, by as little work as its first penalties take.
  const busy = { ...surroundings, clock: () => (time += 10_000) };
  for (const work of [30_000, 1e9]) {
    const [quiet, slow] = await Promise.all(
      [surroundings, busy].map((where) =>
        baselineOf({ data, readShard, learner: 'network', surroundings: where, work, within: Infinity }),
      ),
    );
    assert.ok(quiet?.linear);
    assert.deepEqual(slow, quiet);
    assert.equal(quiet.linear.metrics.val_loss === known!.linear!.metrics.val_loss, work === 1e9, `${work}`);
  }
  assert.equal((await baselineOf({ data, readShard, learner: 'network', ...enough, work: 1 }))?.linear, null);

  // All rows are trained on: they are all there is to guess.
  const alone = makeTable({ rows: 120, numeric: 3, classes: 2, split: [1, 0, 0] });
  const columns = { ...alone.data, input: { kind: 'columns', columns: [] } } as const;
  const { constant } = (await baselineOf({
    ...{ data: columns, readShard: alone.readShard, learner: 'network', ...enough },
  }))!;
  assert.ok(Object.keys(constant.metrics).every((name) => name.startsWith('train_')));
  const words = baselineWords({ metrics: { train_accuracy: 0.9 }, baseline: { constant, linear: null } }, (value) =>
    value.toFixed(2),
  );
  assert.match(words!.text, /^0\.90, always guessing “class \d” gets 0\.\d\d$/);
  const unknown = { constant: { ...constant, metrics: {} }, linear: null };
  assert.equal(
    baselineWords({ metrics: { train_accuracy: 0.9 }, baseline: unknown }, String),
    null,
    'nothing to set it against',
  );
});

test('rows of a form that a dataset does not have are refused', () => {
  assert.equal(formOf({ kind: 'table', name: 't' }, ['pixels', 'matrix', 'columns']), 'matrix');
  assert.equal(formOf({ kind: 'table', name: 't' }, ['columns', 'matrix']), 'columns');
  assert.equal(formOf({ kind: 'table', name: 't' }), 'matrix');
  assert.throws(() => formOf({ kind: 'images', name: 'cats' }, ['matrix']), {
    code: 'input.form',
    message: /cats holds pictures/,
  });
});

test('the lists of learners are those of the folders', () => {
  const folder = path.resolve(import.meta.dirname, '../../engine/learners');
  for (const [file, contents] of Object.entries(learnerLists())) {
    const stored = fs.readFileSync(path.join(folder, file), 'utf8');
    assert.equal(stored, contents, `engine/learners/${file} is out of date: run node scripts/list-learners.ts`);
  }
});

test('a learner of no version is told by name: a run of it is a row that says so, and is not trained on', () => {
  assert.throws(() => checkLearner({ learner: 'oracle' }), { code: 'run.learner', message: /“oracle”/ });
  const foreign = declarationOf({ learner: 'oracle' });
  const config = { ...exampleConfig, learner: 'oracle' } as unknown as RunConfig;
  assert.equal(foreign.modelTitle(config), '“oracle”, not known to this version');
  assert.equal(foreign.complete(config), config, 'what it was asked for stays as it is');
  assert.throws(() => learnerNamed('toString'), { code: 'run.learner' });
  assert.throws(() => readModelFile('{"learner":"oracle"}', 7), { code: 'run.damaged_file', message: /learner/ });
});

test('a run is offered the formats it can leave in: no cluster for a language model, no training again for a model of others', () => {
  const left = (config: RunConfig): readonly string[] => {
    const all = declarationOf(config).formats;
    return all.filter((format) => !formatsOf(config).includes(format));
  };
  const { settings } = exampleConfig;
  assert.deepEqual(left(exampleConfig), []);
  assert.deepEqual(left({ ...exampleConfig, settings: { ...settings, task: 'language' } }), ['pytorch-ddp']);
  assert.deepEqual(left({ ...exampleConfig, dataset: pretrainedDataset('0'.repeat(64)) }), ['pytorch', 'pytorch-ddp']);
});
