// What the window makes of a run's record: how it ended, its settings as they were used, who is best in a comparison, and the
// values a chart tells. All of it is what the history holds, never something rounder or smoother.

import assert from 'node:assert/strict';
import test from 'node:test';
import { declarationOf } from '../../engine/learners/declared/registry.ts';
import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { mlp } from '../../engine/model/presets.ts';
import type { LayerSpec } from '../../engine/model/spec.ts';
import type { ColumnInfo } from '../../engine/protocol/data.ts';
import { noAugmentation } from '../../engine/settings/augmentation.ts';
import type { RunConfig, RunData, RunProgress, RunRecord, RunResult } from '../../engine/protocol/runs.ts';
import {
  elapsedOf,
  endText,
  hasModel,
  rowsPerSecond,
  skippedFigure,
  trainingSecondsOf,
} from '../../renderer/lib/run-words.ts';
import { lastValue, smooth } from '../../renderer/components/chart/curves.ts';
import type { Curve } from '../../renderer/components/chart/curves.ts';
import { readAt } from '../../renderer/components/chart/reading.ts';
import type { Comparison } from '../../renderer/views/compare/compare.svelte.ts';
import { readComparison } from '../../renderer/views/compare/reading.ts';
import { ancestorsOf } from '../../renderer/views/run/files/family.ts';
import { settingsOf } from '../../renderer/lib/run-settings.ts';
import { costRows, differs, resultRows, settingRows } from '../../renderer/views/compare/table-rows.ts';
import { columnFacts, extremes } from '../../renderer/views/dataset/columns.ts';
import { curvesOf } from '../../renderer/views/run/run-curves.ts';
import { pretrainedDataset } from '../../engine/protocol/pretrained.ts';
import { exampleConfig } from './fixtures/history.ts';

const progress: RunProgress = {
  epoch: 55,
  epochs: 100,
  step: 550,
  steps: 1000,
  examplesPerSecond: 900,
  secondsTraining: 3,
  secondsElapsed: 5.8,
  secondsLeft: null,
  loss: 0.1,
};
const result: RunResult = {
  reason: 'early_stopped',
  device: 'cpu',
  threads: 1,
  epochs: 55,
  steps: 550,
  seconds: 3,
  examplesPerSecond: 1000,
  metrics: {},
  bestEpoch: 45,
};
const usual: NetworkConfig = {
  ...exampleConfig,
  model: mlp([8]),
  training: { ...exampleConfig.training, epochs: 100 },
};
const data: RunData = { counts: { train: 80, validation: 10, test: 10 }, givenSplits: [], leftOut: [] };

function record(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id: 1,
    name: 'run',
    state: 'completed',
    dataset: 'd1',
    datasetName: 'points',
    config: usual,
    device: 'cpu',
    threads: 1,
    parameters: 9,
    createdAt: 0,
    startedAt: 0,
    endedAt: 5800,
    progress,
    data,
    last: {},
    best: {},
    result,
    error: null,
    tags: [],
    group: null,
    origin: null,
    queue: null,
    notes: '',
    starred: false,
    deletedAt: null,
    hasCheckpoint: false,
    parent: null,
    relation: null,
    start: null,
    request: null,
    ...changes,
  };
}

test('a run that stopped early has ended, and says where it was best', () => {
  assert.equal(endText(record()), 'Stopped early at epoch 55 of 100, best 45');
  const whole = { ...result, reason: 'completed', epochs: 100, bestEpoch: 98 } as const;
  assert.equal(endText(record({ result: whole })), 'All 100 epochs, best 98');
  assert.equal(endText(record({ state: 'stopped', result: { ...result, reason: 'stopped' } })), null);
  assert.equal(endText(record({ state: 'running', result: null })), null);
  const diverged = { ...result, reason: 'diverged' as const, divergence: { step: 1234, message: '', hint: '' } };
  assert.equal(endText(record({ state: 'diverged', result: diverged })), 'Diverged at step 1,234, best epoch 45');
});

test('time elapsed is not the time of training, and the speed is that of training', () => {
  assert.deepEqual([elapsedOf(record()), trainingSecondsOf(record()), rowsPerSecond(record())], [5.8, 3, 1000]);
  assert.equal(
    rowsPerSecond(record({ result: { ...result, examplesPerSecond: 0 } })),
    null,
    'of a search nobody knows',
  );
  const running = record({ state: 'running', result: null });
  assert.deepEqual([elapsedOf(running), trainingSecondsOf(running), rowsPerSecond(running)], [5.8, 3, 900]);
  assert.deepEqual(
    costRows([record()]).map(({ name, values }) => [name, values[0]]),
    [
      ['Elapsed, without pauses', '6\u00a0s'],
      ['Training alone', '3\u00a0s'],
      ['Training rows a second', '1,000'],
      ['Epochs', '55'],
      ['Ended', 'Stopped early'],
    ],
  );
});

test('settings tell the split and the columns that were used', () => {
  const setting = (run: RunRecord, name: string): string | undefined => new Map(settingsOf(run)).get(name);
  assert.equal(setting(record(), 'Split'), '80 train / 10 validation / 10 test');
  assert.equal(setting(record(), 'Left out'), 'nothing');
  const folder: RunData = {
    counts: { train: 4500, validation: 500, test: 1000 },
    givenSplits: ['train', 'test'],
    leftOut: [],
  };
  assert.equal(
    setting(record({ data: folder }), 'Split'),
    '4,500 train / 500 validation / 1,000 test; train and test as the source has them, validation drawn from its train',
  );
  const table: RunData = {
    counts: { train: 9, validation: 0, test: 1 },
    givenSplits: [],
    leftOut: [
      { column: 'site', reason: 'constant' },
      { column: 'serial', reason: 'identifier' },
      { column: 'note', reason: 'ignored' },
    ],
  };
  assert.match(setting(record({ data: table }), 'Split') ?? '', /0 validation .*nothing validates/);
  assert.equal(setting(record({ data: table }), 'Left out'), 'site (constant), serial (identifier), note (as chosen)');
  assert.equal(setting(record({ data: table }), 'Batch size'), '9 (all rows; 32 asked for)');
  assert.match(setting(record({ state: 'queued', data: null }), 'Split') ?? '', /^80.% \/ 10.% \/ 10.% asked for$/);
});

test('pixels that are read as another run reads them are among the settings', () => {
  const settings = {
    ...exampleConfig.settings,
    normalization: { mean: [0.485, 0.456, 0.4], deviation: [0.229, 0.224, 1 / 3] },
  };
  const setting = new Map(settingsOf(record({ config: { ...exampleConfig, settings } })));
  assert.equal(setting.get('Pixel mean'), '0.485, 0.456, 0.4');
  assert.equal(setting.get('Pixel deviation'), '0.229, 0.224, 0.3333');
});

test('what a run began with is among its settings, and what it differs by from one that began anew', () => {
  const begun = record({ parent: 5, relation: 'started from', start: { epoch: 12, step: 24, upTo: 4 } });
  const words = 'started from run 5, as of epoch 12, its first 4 layers';
  assert.equal(new Map(settingsOf(begun)).get('Beginning'), words);
  assert.ok(!new Map(settingsOf(record())).has('Beginning'));
  const differing = settingRows([record(), begun]).filter(differs);
  assert.deepEqual(differing, [{ name: 'Beginning', setting: true, values: ['–', words] }]);
  const fold = record({ parent: 5, relation: 'fold', start: { fold: 2 } });
  assert.ok(!new Map(settingsOf(fold)).has('Beginning'), 'a fold takes over nothing');
});

test('a search that ended before a trial was completed has no model', () => {
  const standing = { trials: 15, completed: 0, stopped: 15, failed: 0, best: null, metric: 'log loss', luck: null };
  const search = {
    ...standing,
    steps: 1,
    fullSteps: 0,
    overhead: 0,
    importance: null,
    folds: 5,
    ended: 'stopped',
  } as const;
  assert.equal(hasModel(record({ state: 'stopped', hasCheckpoint: true, result: { ...result, search } })), false);
  assert.ok(hasModel(record()));
});

test('what a run came from are all runs before it, as far as they are there', async () => {
  const known = [record({ id: 4 }), record({ id: 5, parent: 4 }), record({ id: 6, parent: 5 })];
  const service = {
    run: async ({ run }: { run: number }) => {
      const found = known.find(({ id }) => id === run);
      if (!found) throw new Error(`There is no run ${run}.`);
      return found;
    },
  };
  const before = async (run: RunRecord): Promise<readonly number[]> =>
    (await ancestorsOf(run, service)).map(({ id }) => id);
  assert.deepEqual(await before(known[2]), [4, 5]);
  assert.deepEqual(await before(known[0]), []);
  assert.deepEqual(await before(record({ id: 8, parent: 3 })), []);
});

test('a model that others have trained tells no settings of a training: nobody knows them', () => {
  const others = record({ config: { ...record().config, dataset: pretrainedDataset('ab') }, data: null });
  const labels = settingsOf(others).map(([label]) => label);
  assert.deepEqual(labels, ['Read from', 'Model', 'Layers', 'Parameters']);
});

test('a run that was to be done by a time says so, and that its epochs were none that were asked for', () => {
  const until = new Date(2026, 11, 24, 7, 0).getTime();
  const timed = record({ config: { ...record().config, until } });
  const setting = new Map(settingsOf(timed));
  assert.equal(setting.get('Done by'), '24 Dec 2026, 07:00:00');
  assert.equal(setting.get('Epochs'), 'as many as there is time for');
  assert.ok(!new Map(settingsOf(record())).has('Done by'));
  assert.match(declarationOf(timed.config).facts(timed.config, 1)[2][1], /^epochs until 2026-12-24 07:00, batch 32, /);
  const names = settingRows([record(), timed])
    .filter(differs)
    .map(({ name }) => name);
  assert.deepEqual(names, ['Done by', 'Epochs']);
});

test('weight decay says what it is relative to', () => {
  const decay = (name: 'adamw' | 'sgd'): string | undefined => {
    const { training } = exampleConfig;
    const optimizer = { ...training.optimizer, name, weightDecay: 0.85 };
    const config = { ...record().config, training: { ...training, optimizer } };
    return new Map(settingsOf(record({ config }))).get('Weight decay');
  };
  assert.equal(decay('adamw'), '0.85 × learning rate a step');
  assert.equal(decay('sgd'), '0.85 × weights, added to the gradient');
});

test('all settings that differ are compared, also those that are seldom set', () => {
  const rows = (...trainings: readonly object[]): readonly (readonly string[])[] =>
    settingRows(trainings.map((training) => record({ config: { ...record().config, training } as RunConfig })))
      .filter(differs)
      .map(({ name, values }) => [name, ...values]);
  const { training } = exampleConfig;
  const beta = { ...training, optimizer: { ...training.optimizer, name: 'adam', beta1: 0.5 } };
  const usual = { ...training, optimizer: { ...training.optimizer, name: 'adam', beta1: 0.9 } };
  assert.deepEqual(rows(beta, usual), [['Beta 1', '0.5', '0.9']]);
  const huber = { ...training, loss: 'huber', huberDelta: 2 };
  assert.deepEqual(rows(huber, { ...huber, huberDelta: 1 }), [['Huber delta', '2', '1']]);
  const flipped = { ...training, augmentation: { ...noAugmentation, flip: true, crop: 4 } };
  assert.deepEqual(rows(flipped, training), [
    ['Pictures: mirror half of them', 'yes', 'no'],
    ['Pictures: shift, pixels', '4', '0'],
  ]);
  const seeds = [1234567, 1234568].map((seed) => record({ config: { ...record().config, seed } }));
  assert.deepEqual(settingRows(seeds).find(({ name }) => name === 'Seed')?.values, ['1234567', '1234568']);
});

test('layers are told by what they are, and by name where something is not as usual', () => {
  const text = (...layers: readonly LayerSpec[]): string | undefined => {
    const config: NetworkConfig = { ...exampleConfig, model: { version: 1, layers } };
    return new Map(settingsOf(record({ config }))).get('Layers');
  };
  assert.equal(
    text({ type: 'conv2d', filters: 32, bias: false }, { type: 'batch_norm' }, { type: 'activation' }),
    'Conv 2D 32 × 3×3, no bias → Batch norm → Activation ReLU',
  );
  assert.equal(
    text({ type: 'conv2d', filters: 16, kernel: 5, padding: 2, activation: 'relu' }, { type: 'max_pool', stride: 1 }),
    'Conv 2D 16 × 5×5 ReLU, padding 2 → Max pool 2×2, stride 1',
  );
  assert.equal(
    text({ type: 'batch_norm', momentum: 0.01 }, { type: 'upsample' }, { type: 'reshape', channels: 3 }),
    'Batch norm, momentum 0.01 → Upsample ×2 → Reshape 3 × 8×8',
  );
  assert.equal(
    text({ type: 'dense', units: 64 }, { type: 'dropout', rate: 0.1 }, { type: 'output' }),
    'Dense 64 ReLU → Dropout 0.1 → Output',
  );
});

/** Runs by their best accuracy, as Compare has them. */
function comparison(...values: readonly number[]): Comparison {
  const runs = values.map((value, index) => ({
    run: record({ id: index + 1, best: { val_accuracy: { value, epoch: 3 } }, last: { val_accuracy: value } }),
    letter: 'ABCD'[index],
    token: '',
    dash: [],
  }));
  return { runs, series: () => undefined } as unknown as Comparison;
}

test('all that share the best value are named and marked, and only they', () => {
  const read = (...values: number[]): string => readComparison(comparison(...values), 'val_accuracy');
  assert.match(read(0.9, 0.9, 0.9, 0.9), /^A, B, C and D share the best accuracy, 0\.9000\./);
  assert.match(
    read(0.8, 0.9, 0.7, 0.9),
    /^B and D share the best accuracy, 0\.9000\. B and D have the same settings\./,
  );
  assert.match(read(0.8, 0.9, 0.7), /^B has the best accuracy: 0\.9000, 0\.1000 ahead of A\./);
  const best = (...values: number[]): readonly number[] | undefined => {
    const runs = comparison(...values).runs.map(({ run }) => run);
    return resultRows(runs, ['val_accuracy'], false).find(({ name }) => name === 'Best validation accuracy')?.best;
  };
  assert.deepEqual(best(0.8, 0.9, 0.7, 0.9), [1, 3]);
  assert.deepEqual(best(0.9, 0.9), [], 'where all are the same, none is better');
});

test('the mean of a cross-validation is of no epoch', () => {
  const [a, b] = comparison(0.8, 0.9).runs.map(({ run }) => run);
  const crossed = { ...b, config: { ...b.config, folds: 5 } };
  const at = resultRows([a, crossed], ['val_accuracy'], false).find(({ name }) => name === 'at epoch')?.values;
  assert.deepEqual([at?.[0] === '–', at?.[1]], [false, '–']);
});

test('the sentence counts the settings that the table shows to differ', () => {
  const [a, b] = comparison(0.8, 0.9).runs;
  const training = { ...exampleConfig.training, batch: 16 };
  const other = { ...b.run, parameters: 99, config: { ...exampleConfig, model: mlp([16]), training, seed: 2 } };
  const runs = [a, { ...b, run: other }];
  const count = settingRows(runs.map(({ run }) => run)).filter(differs).length;
  assert.ok(count > 3);
  const said = readComparison({ runs, series: () => undefined } as unknown as Comparison, 'val_accuracy');
  assert.match(said, new RegExp(`B and A differ in ${count} settings\\.`));
});

test('runs on different datasets or targets have no best', () => {
  const [a, b] = comparison(0.8, 0.9).runs;
  const read = (other: Partial<RunRecord>): readonly [string, readonly (readonly number[] | undefined)[]] => {
    const runs = [a, { ...b, run: { ...b.run, ...other } }];
    const records = runs.map(({ run }) => run);
    return [
      readComparison({ runs, series: () => undefined } as unknown as Comparison, 'val_accuracy'),
      resultRows(records, ['val_accuracy'], false).map(({ best }) => best),
    ];
  };
  const [datasets, marks] = read({ dataset: 'd2', datasetName: 'lines' });
  assert.equal(
    datasets,
    'A and B use different datasets: their scores cannot be compared. A and B differ in dataset alone.',
  );
  assert.ok(marks.every((best) => best === undefined));
  const { config } = b.run;
  const [targets] = read({ config: { ...config, settings: { ...config.settings, target: 'island' } } });
  assert.match(targets, /^A and B predict different targets: their scores cannot be compared\./);
  assert.match(read({})[0], /^B has the best accuracy/);
  assert.ok(read({})[1].some((best) => best?.includes(1)));
});

test('the ends of a narrow column differ in words', () => {
  const column = (minimum: number, maximum: number): ColumnInfo => ({
    name: 'price',
    type: 'number',
    reason: '',
    overridden: false,
    missing: 0,
    distinct: 9,
    minimum,
    maximum,
    median: (minimum + maximum) / 2,
    deviation: 91.23456,
    histogram: [1, 2],
  });
  const facts = (low: number, high: number): readonly (string | undefined)[] => {
    const told = new Map(columnFacts(column(low, high), 9));
    return ['Smallest', 'Largest', 'Standard deviation'].map((name) => told.get(name));
  };
  assert.deepEqual(extremes(column(999970.25, 1000290.25), 9), ['999,970.3', '1,000,290']);
  assert.deepEqual(facts(999970, 1000290), ['999,970', '1,000,290', '91.23']);
  assert.deepEqual(facts(0.12345, 98.7654), ['0.1235', '98.77', '91.23'], 'a wide range stays short');
  assert.equal(new Set(facts(20000000, 20000100).slice(0, 2)).size, 2);
  assert.deepEqual(facts(5, 5), ['5', '5', '91.23']);
});

test('a chart tells recorded values, whatever line it draws', () => {
  const steps = Array.from({ length: 400 }, (_, step) => step + 1);
  const series = {
    step: steps,
    epoch: steps.map((step) => step / 100),
    seconds: steps,
    value: steps.map((step) => (step % 2 ? 1 : 3)),
  };
  const epochs = { step: [400], epoch: [4], seconds: [400], value: [1.75] };
  const [train] = curvesOf('loss', new Map([...Object.entries({ step_loss: series, train_loss: epochs })]));
  assert.equal(lastValue(train), 1.75, 'the last epoch’s, as everywhere else');
  assert.equal(lastValue({ y: [3, 2, 1] }), 1);

  const drawn: Curve = { ...train, y: smooth(train.y, 0.9) };
  const reading = readAt([train], [drawn], 4, 4);
  assert.equal(reading?.values[0].value, 3);
  assert.ok(Math.abs((reading?.values[0].smoothed ?? 0) - 2) < 0.1);
  assert.equal(readAt([train], [train], 4, 4)?.values[0].smoothed, undefined);
});

test('steps that the scaled loss skipped are a figure, of runs that have one', () => {
  assert.deepEqual(skippedFigure({ skipped_steps: 3, loss_scale: 8192 }), ['Skipped steps', '3', 'loss × 8,192']);
  assert.deepEqual(skippedFigure({ skipped_steps: 0, loss_scale: 65536 }), ['Skipped steps', '0', 'loss × 65,536']);
  assert.equal(skippedFigure({ train_loss: 1 }), null);
});
