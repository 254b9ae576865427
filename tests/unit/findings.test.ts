// Words about curves that were made so that one thing is so: each finding stands alone, with its figures and the settings of the run to try.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  columnFindings,
  curveFindings,
  keepingWeights,
  type Curve,
  type Curves,
} from '../../engine/explanation/findings.ts';
import { networkConfig, type NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';

const training = { ...defaultTraining(500, 'classification'), epochs: 40 };
const common = { dataset: 'd', settings: { target: 'y' }, device: 'cpu', threads: 1 } as const;
const config = networkConfig(common, mlp([16]), training);

const curve = (at: (epoch: number) => number): Curve => {
  const epoch = Array.from({ length: 40 }, (_, i) => i + 1);
  return { epoch, value: epoch.map(at) };
};
const falling = (epoch: number): number => 0.2 + 0.6 * Math.exp(-epoch / 5);

const result = (change: Partial<RunResult> = {}): RunResult => ({
  reason: 'completed',
  device: 'cpu',
  threads: 1,
  epochs: 40,
  steps: 400,
  seconds: 1,
  examplesPerSecond: 1,
  bestEpoch: 40,
  metrics: { val_accuracy: 0.9 },
  baseline: {
    constant: { answer: 'a', metrics: { val_accuracy: 0.6 } },
    linear: { penalty: 1, metrics: { val_accuracy: 0.8 } },
  },
  ...change,
});

const only = (change: Partial<Curves>) => {
  const found = curveFindings({
    config,
    result: result(),
    train: curve(falling),
    validation: curve(falling),
    ...change,
  });
  assert.equal(found.length, 1, JSON.stringify(found.map(({ id }) => id)));
  return found[0];
};
const trainingOf = (finding: ReturnType<typeof only>): NetworkConfig['training'] =>
  (finding.action?.config as NetworkConfig).training;

test('sound curves are said to be', () => {
  const found = only({});
  assert.deepEqual([found.id, found.kind, found.action], ['sound', 'fine', undefined]);
});

test('overfitting: from which epoch, how far, and a stronger weight decay', () => {
  const found = only({
    validation: curve((epoch) => (epoch <= 12 ? falling(epoch) : falling(12) + 0.01 * (epoch - 12))),
  });
  assert.equal(found.title, 'Validation loss rises after epoch 12');
  assert.equal(found.figure, '0.2544 → 0.5244');
  assert.equal(
    trainingOf(found).optimizer.weightDecay,
    Math.max(0.05, Math.min(3, Number((5 * training.optimizer.weightDecay).toPrecision(2)))),
  );
  assert.equal(found.action?.continues, false);
});

test('not finished: goes on where it ended, for half as many epochs again', () => {
  const line = curve((epoch) => 1 - epoch / 60);
  const found = only({ train: line, validation: line });
  assert.deepEqual([found.id, found.action?.continues, trainingOf(found).epochs], ['unfinished', true, 60]);
});

test('jumps: a fifth of the learning rate; divergence: a tenth, clipped', () => {
  const found = only({ train: curve((epoch) => 0.5 + (epoch % 2) * 0.3), validation: curve(() => 0.6) });
  assert.deepEqual(
    [found.id, trainingOf(found).optimizer.learningRate],
    ['noisy', Number((training.optimizer.learningRate / 5).toPrecision(2))],
  );
  const gone = only({ result: result({ reason: 'diverged', divergence: { step: 1234, message: '', hint: '' } }) });
  assert.deepEqual([gone.id, gone.figure, trainingOf(gone).clipNorm], ['diverged', 'step 1,234', 1]);
  assert.equal(trainingOf(gone).optimizer.learningRate, Number((training.optimizer.learningRate / 10).toPrecision(2)));
});

test('no better than always the same, and no better than a linear model', () => {
  const flat = curve(() => 0.69);
  const found = only({ train: flat, validation: flat, result: result({ metrics: { val_accuracy: 0.6 } }) });
  assert.deepEqual([found.id, found.kind, found.figure], ['nothing', 'fix', '0.6 against 0.6']);
  const linear = only({ result: result({ metrics: { val_accuracy: 0.79 } }) });
  assert.equal(linear.id, 'small');
  const { layers } = (linear.action?.config as NetworkConfig).model;
  assert.deepEqual(layers.map(({ units }) => units).filter(Boolean), [32]);
  const [kept] = keepingWeights([linear], config);
  assert.deepEqual([kept.title, kept.action], [linear.title, undefined], 'weights of another would not fit');
});

test('columns: those that carry nothing are left out by a run, those that say the same are named', () => {
  const drops = (values: number[]) => ({ roc_auc: values });
  const found = columnFindings(
    config,
    ['a', 'b', 'c'].map((name) => ({ name, kind: 'number' })),
    {
      rows: 10,
      of: 10,
      shuffles: 3,
      scores: { roc_auc: 0.9 },
      columns: [
        [0.2, 0.21, 0.19],
        [0.001, -0.001, 0],
        [0.1, 0.1, 0.12],
      ].map((values, column) => ({ column, drops: drops(values) })),
      correlated: [{ columns: [0, 2], r: 0.91 }],
    },
    'roc_auc',
  );
  assert.deepEqual(
    found.map(({ title }) => title),
    ['b carries nothing', 'a and c say nearly the same'],
  );
  assert.deepEqual(found[0].action?.config.settings.ignored, ['b']);
  assert.equal(keepingWeights(found, config)[0].action, undefined);
  assert.equal(found[1].figure, 'r = 0.91');
});

test('a network that a linear model clearly beats, or of few epochs, is to train longer, not to be wider', () => {
  const short = { epoch: [1, 2, 3, 4], value: [0.4, 0.36, 0.33, 0.31] };
  const found = only({ train: short, validation: short, result: result({ metrics: { val_accuracy: 0.7 } }) });
  assert.deepEqual([found.id, found.title], ['small', 'A linear model does better']);
  assert.match(found.text, /after 4 epochs, with training at 0\.31 and validation at 0\.31: train longer/);
  assert.deepEqual([found.action?.continues, found.action?.change], [true, '+10 epochs']);
  assert.equal(keepingWeights([found], config)[0].action, found.action);
  const ended = result({ reason: 'early_stopped', metrics: { val_accuracy: 0.7 } });
  assert.equal(only({ train: short, validation: short, result: ended }).action, undefined);
});
