// Training on images, end to end on the CPU: models learn, larger sets stream as bytes, mixed images train with shares of
// classes, augmentation changes training and never prediction, and a resumed run follows the same curve.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { previewAugmentation } from '../../engine/model/augmentation.ts';
import { defaultPreset, defaultTraining } from '../../engine/model/presets.ts';
import type { AugmentationSpec, ModelSpec } from '../../engine/model/spec.ts';
import { drawBeta } from '../../engine/optim/random.ts';
import { noAugmentation } from '../../engine/settings/augmentation.ts';
import { Session } from '../../engine/train/session.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { makeImages } from '../support/images.ts';
import { series, trainHere } from '../support/train.ts';

const cnn: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 8, bias: false },
    { type: 'batch_norm' },
    { type: 'activation' },
    { type: 'max_pool' },
    { type: 'flatten' },
    { type: 'output' },
  ],
};
const images = makeImages({ rows: 300, channels: 3, height: 8, width: 8, classes: 4, shardRows: 70 });
const augmentation: AugmentationSpec = {
  flip: true,
  crop: 1,
  rotation: 10,
  zoom: 0.1,
  brightness: 0.2,
  contrast: 0.2,
  saturation: 0.2,
  cutout: 2,
  mixup: 0,
};
const cpu = () => createCpuBackend({ threads: 2 });

async function losses(options: Parameters<typeof trainHere>[1]): Promise<readonly number[]> {
  const { points } = await trainHere(images, { backend: cpu(), model: cnn, ...options });
  return series(points, 'train_loss');
}

test('a small net learns which row is bright', async () => {
  const training = { epochs: 12, batch: 32, augmentation: { ...augmentation, rotation: 0, crop: 0, cutout: 0 } };
  const { result } = await trainHere(images, { backend: cpu(), model: cnn, training });
  assert.ok(result.metrics.test_accuracy >= 0.9, `test accuracy ${result.metrics.test_accuracy}`);
});

test('images that do not fit the budget stream in windows, as bytes', async () => {
  const budget = 100 * (3 * 8 * 8 + 4);
  const { log, result } = await trainHere(images, {
    backend: cpu(),
    model: cnn,
    training: { epochs: 6, batch: 32 },
    dataBudget: budget,
  });
  assert.ok(log.some(({ message }) => /3 windows of 96 rows/.test(message)));
  assert.ok(result.metrics.train_accuracy > 0.5, `train accuracy ${result.metrics.train_accuracy}`);
});

test('mixed images train with shares of classes', async () => {
  const curve = await losses({ training: { epochs: 8, batch: 32, augmentation: { ...augmentation, mixup: 0.4 } } });
  assert.ok(curve.at(-1)! < 0.9 * curve[0], `${curve}`);
});

test('augmentation changes training; the same seed gives the same bits', async () => {
  const training = { epochs: 2, batch: 32, augmentation };
  const [first, again] = [await losses({ training }), await losses({ training })];
  assert.deepEqual(again, first);
  const plain = await losses({ training: { ...training, augmentation: undefined } });
  assert.notEqual(plain[1], first[1]);
});

test('augmentation leaves prediction alone', async () => {
  const outputs = [];
  for (const each of [augmentation, undefined]) {
    const backend = cpu();
    const base = defaultTraining(240, 'classification', images.data.input, cnn);
    const session = await Session.open({
      backend,
      model: cnn,
      training: { ...base, augmentation: each },
      data: images.data,
      readShard: images.readShard,
      dataBudget: 1e9,
    });
    initializeWeights(session.executable, session.model, 1);
    outputs.push(await session.predict({ start: 0, end: 50 }));
    session.close();
    await backend.close();
  }
  assert.deepEqual(outputs[0], outputs[1]);
});

test('the preview shows pictures as they are without augmentation, and as training draws them with it', () => {
  const input = { kind: 'image', channels: 3, height: 8, width: 8 } as const;
  const bytes = images.x.subarray(0, 4 * input.channels * input.height * input.width);
  const preview = (spec: AugmentationSpec, step = 0): Uint8Array =>
    previewAugmentation({ input, bytes }, spec, 1, step);
  assert.deepEqual(preview(noAugmentation), Uint8Array.from(bytes));
  const drawn = preview({ ...noAugmentation, flip: true });
  const mirrored = (row: Uint8Array): Uint8Array => row.slice().reverse();
  for (let start = 0; start < bytes.length; start += input.width) {
    const [row, was] = [drawn, bytes].map((all) => all.subarray(start, start + input.width));
    assert.ok(row.join() === was.join() || row.join() === mirrored(was).join());
  }
  assert.deepEqual(preview(augmentation), preview(augmentation));
  assert.notDeepEqual(preview(augmentation), preview(augmentation, 1));
});

test('a run resumed in mid-epoch draws the same augmentation', async () => {
  const training = { epochs: 3, batch: 32, augmentation };
  const whole = await trainHere(images, { backend: cpu(), model: cnn, training });
  const stopped = await trainHere(images, {
    backend: cpu(),
    model: cnn,
    training,
    onSubmit: (submits, control) => {
      if (submits === 3) control.stop();
    },
  });
  const checkpoint = stopped.files.get('checkpoint.bin');
  assert.ok(checkpoint);
  const resumed = await trainHere(images, { backend: cpu(), model: cnn, training, checkpoint });
  assert.equal(resumed.result.metrics.train_loss, whole.result.metrics.train_loss);
});

test('defaults for images: one cycle of SGD for nets with batch norm, AdamW for those without', () => {
  const input = { kind: 'image', channels: 3, height: 32, width: 32 } as const;
  const preset = defaultPreset(5000, input);
  assert.equal(preset.name, 'resnet20');
  const training = defaultTraining(5000, 'classification', input, preset.spec);
  assert.deepEqual(
    [training.optimizer.name, training.optimizer.learningRate, training.schedule.name, training.epochs],
    ['sgd', 0.2, 'one_cycle', 40],
  );
  assert.deepEqual([training.augmentation?.flip, training.augmentation?.crop], [true, 4]);
  const plain: ModelSpec = { version: 1, layers: [{ type: 'flatten' }, { type: 'output' }] };
  const grey = { ...input, channels: 1 };
  assert.equal(defaultTraining(5000, 'classification', grey, plain).optimizer.name, 'adamw');
  assert.equal(defaultTraining(5000, 'classification', grey, plain).augmentation?.flip, false);
});

test('Beta numbers lie within 0 and 1 around a half, and gather at the ends for small shapes', () => {
  const draw = (shape: number): number[] => Array.from({ length: 2000 }, (_, i) => drawBeta(shape, 3, 9, i));
  const [narrow, even] = [draw(0.2), draw(1)];
  for (const values of [narrow, even]) {
    assert.ok(values.every((value) => value >= 0 && value <= 1));
    assert.ok(Math.abs(values.reduce((sum, value) => sum + value, 0) / 2000 - 0.5) < 0.03);
  }
  const ends = (values: readonly number[]): number =>
    values.filter((value) => value < 0.1 || value > 0.9).length / 2000;
  // Beta(1, 1) is uniform: 0.2. Beta(0.2, 0.2): 0.66 by numeric integration of its density.
  assert.ok(Math.abs(ends(even) - 0.2) < 0.03, `${ends(even)}`);
  assert.ok(ends(narrow) > 0.6, `${ends(narrow)}`);
});
