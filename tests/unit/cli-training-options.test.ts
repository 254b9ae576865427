// Flags of `train`: what a split goes by; for pictures: models fit their size, defaults are those for pictures, `--augment` names changes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { datasetSettings, modelOption, trainingSpec, type TrainedOn } from '../../electron/cli/training-options.ts';

const pictures: TrainedOn = {
  rows: 5000,
  task: 'classification',
  classes: 10,
  input: { kind: 'image', channels: 3, height: 32, width: 32 },
};
const table: TrainedOn = {
  rows: 5000,
  task: 'classification',
  classes: 2,
  input: { kind: 'table', width: 4, numeric: 4, embeddings: [] },
};

test('pictures get a convolutional net and its recipe, tables what they had', async () => {
  const model = await modelOption({}, pictures);
  assert.equal(model.preset, 'resnet20');
  const training = trainingSpec({}, pictures, model);
  assert.equal(training.optimizer.name, 'sgd');
  assert.equal(training.optimizer.learningRate, 0.2);
  assert.equal(training.augmentation?.crop, 4);
  assert.equal((await modelOption({}, table)).preset, 'tabular');
  assert.equal(trainingSpec({}, table).augmentation, undefined);
  assert.equal(trainingSpec({ optimizer: 'sgd' }, table).optimizer.learningRate, 0.05);
  assert.equal(trainingSpec({ optimizer: 'adam' }, pictures, model).optimizer.learningRate, 0.002);
});

test('--augment replaces the defaults', () => {
  const { augmentation } = trainingSpec({ augment: 'flip=1,rotation=10,mixup=0.2' }, pictures);
  assert.deepEqual(augmentation, {
    flip: true,
    crop: 0,
    rotation: 10,
    zoom: 0,
    brightness: 0,
    contrast: 0,
    saturation: 0,
    cutout: 0,
    mixup: 0.2,
  });
  assert.equal(trainingSpec({ augment: 'none' }, pictures).augmentation?.flip, false);
});

test('--augment refuses what it does not know, naming what there is', () => {
  for (const augment of ['spin=3', 'rotation=90', 'flip', 'crop=-1', '']) {
    assert.throws(
      () => trainingSpec({ augment }, pictures),
      (error: Error & { hint?: string }) =>
        /--augment has/.test(error.message) && /rotation up to 45/.test(error.hint!),
      augment,
    );
  }
});

test('a table with many classes and rows gets a wider network and more epochs', async () => {
  const letters: TrainedOn = { ...table, rows: 8500, classes: 26 };
  const model = await modelOption({}, letters);
  assert.equal(model.preset, 'wide');
  assert.equal(trainingSpec({}, letters, model).epochs, 68);
  assert.equal((await modelOption({}, { ...letters, rows: 1000 })).preset, 'tabular');
  assert.equal((await modelOption({}, { ...letters, classes: 8 })).preset, 'tabular');
});

test('a table gets a network that is trained like RealMLP, for half as long', async () => {
  const model = await modelOption({}, table);
  const { schedule, epochs, earlyStopping, optimizer } = trainingSpec({}, table, model);
  assert.deepEqual([schedule.name, epochs, earlyStopping.enabled, optimizer.beta2], ['coslog4', 128, false, 0.95]);
  const realmlp = await modelOption({ model: 'realmlp' }, table);
  assert.equal(trainingSpec({}, table, realmlp).epochs, 256);
  const { preset: _, ...edited } = realmlp;
  assert.equal(trainingSpec({}, table, edited).epochs, 256);
  assert.equal((await modelOption({}, { ...table, rows: 20_000 })).preset, 'medium');
});

test('a split goes by time or by group', () => {
  assert.deepEqual(datasetSettings({ time: 'day' }), { splitBy: { kind: 'time', column: 'day' } });
  assert.deepEqual(datasetSettings({ group: 'patient' }), { splitBy: { kind: 'group', column: 'patient' } });
  assert.throws(() => datasetSettings({ time: 'day', group: 'patient' }), { code: 'usage.split' });
});
