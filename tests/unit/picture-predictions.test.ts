// From a finished run back to pictures: which ones stand behind a cell of the confusion matrix, what a run says of pictures,
// and where it looked.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { presetNamed, specOf } from '../../engine/model/presets.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import type { RunPredictions } from '../../engine/protocol/evaluation.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import { placesOf } from '../../engine/runs/predicted-rows.ts';
import { cutBeforePool } from '../../engine/train/attention.ts';
import { decodeWeights, predictRows, readTrained } from '../../engine/learners/predict.ts';
import { makeImages } from '../support/images.ts';
import { noisyClasses, pictureService, temporaryFolder, writeTree } from '../support/pictures.ts';
import { trainHere } from '../support/train.ts';

const predictions: RunPredictions = {
  epoch: 1,
  classes: ['cat', 'dog'],
  rows: [10, 11, 12, 13, 14],
  truth: [0, 0, 1, 0, 1],
  predicted: [0, 1, 0, 1, 1],
  probability: [0.9, 0.6, 0.8, 0.99, 0.7],
};

test('a cell stands for its rows, surest first; without classes for all mistakes', () => {
  assert.deepEqual(placesOf(predictions, { truth: 0, predicted: 1 }), [3, 1]);
  assert.deepEqual(placesOf(predictions, { truth: 1, predicted: null }), [2, 4]);
  assert.deepEqual(placesOf(predictions, { truth: null, predicted: null }), [3, 2, 1]);
});

const pooled: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 6 },
    { type: 'activation', id: 'maps' },
    { type: 'global_average_pool' },
    { type: 'dropout', rate: 0.2 },
    { type: 'output', id: 'head' },
  ],
};

for (const [name, backend] of [
  ['reference', createReferenceBackend],
  ['cpu', () => createCpuBackend({ threads: 1 })],
] as const) {
  test(`activation maps weigh the last feature maps as the output layer does (${name})`, async () => {
    const images = makeImages({ rows: 60, channels: 1, height: 6, width: 6, classes: 3 });
    const files = new Map<RunFile, Uint8Array>();
    await trainHere(images, { backend: backend(), model: pooled, training: { epochs: 3, batch: 16 }, files });
    const trained = readTrained(new TextDecoder().decode(files.get('model.json')), files.get('best.safetensors')!, 1);
    const data = { ...images.data, counts: { train: 0, validation: 0, test: 60 } };
    const rows = { data, readShard: images.readShard, dataBudget: 1e9, backend: async () => backend() };
    const { outputs } = await predictRows(trained, rows);
    const chosen = Array.from({ length: 60 }, (_, row) => row % 3);
    const maps = await trained.attention!(rows, chosen);
    assert.ok(maps);
    assert.deepEqual([maps.width, maps.height], [6, 6]);
    assert.ok(Math.max(...maps.values) <= 1 && Math.min(...maps.values) >= 0);

    const weights = decodeWeights(files.get('best.safetensors')!, 1);
    // The definition, from the convolution on: the mean of the weighed maps plus the bias is the score itself.
    const weight = weights['head.weight'].data;
    const bias = weights['head.bias'].data;
    const kernel = weights['0.weight'].data;
    const offset = weights['0.bias'].data;
    const { mean, deviation } = images.data.normalization!;
    const pixel = (row: number, r: number, c: number): number =>
      r < 0 || c < 0 || r > 5 || c > 5 ? 0 : (images.x[row * 36 + r * 6 + c] / 255 - mean[0]) / deviation[0];
    for (const row of [0, 7, 59]) {
      const k = chosen[row];
      const map = Array.from({ length: 36 }, (_, place) => {
        let evidence = 0;
        for (let filter = 0; filter < 6; filter++) {
          let sum = offset[filter];
          for (let tap = 0; tap < 9; tap++) {
            const [r, c] = [Math.floor(place / 6) + Math.floor(tap / 3) - 1, (place % 6) + (tap % 3) - 1];
            sum += kernel[filter * 9 + tap] * pixel(row, r, c);
          }
          evidence += weight[filter * 3 + k] * Math.max(0, sum);
        }
        return evidence;
      });
      const score = map.reduce((sum, value) => sum + value, 0) / 36 + bias[k];
      assert.ok(Math.abs(score - outputs[row * 3 + k]) < 1e-3, `${score} is not ${outputs[row * 3 + k]}`);
      const strongest = Math.max(...map);
      map.forEach((value, place) => {
        const expected = strongest > 0 ? Math.max(0, value / strongest) : 0;
        assert.ok(Math.abs(expected - maps.values[row * 36 + place]) < 1e-3);
      });
    }
  });
}

test('of the presets, those with a global average pool before the output tell where they looked', () => {
  const images = makeImages({ rows: 10, channels: 3, height: 32, width: 32, classes: 2 });
  const { input, output, task } = images.data;
  const tells = (name: string): boolean => {
    const model = specOf(presetNamed(name)!, input);
    return cutBeforePool({ model, input, output, task, training: { loss: 'auto' } as never }) !== null;
  };
  assert.deepEqual(['small-cnn', 'resnet20', 'mobilenet'].map(tells), [true, true, true]);
  assert.equal(tells('lenet'), false);
});

test('rows of a dataset are prepared as the run saw them', async (context) => {
  const folder = temporaryFolder(context);
  writeTree(folder, noisyClasses(['ant', 'bee'], 10));
  const service = pictureService(context);
  const { id } = await service.import({ job: 'import', path: folder });
  const run = await service.prepare({ job: 'prepare', dataset: id, options: { settings: {}, seed: 1 } });
  const rows = [...run.sources!.subarray(run.counts.train)].reverse();
  const again = await service.prepareRows({ dataset: id, rows, preprocessing: run.preprocessing });
  assert.deepEqual(again.counts, { train: 0, validation: 0, test: rows.length });
  assert.match(again.files![0], /^(ant|bee)\/\d{4}\.png$/);
  const before = await service.readShard({ handle: run.handle, shard: 0 });
  const after = await service.readShard({ handle: again.handle, shard: 0 });
  assert.deepEqual(after.x.subarray(0, run.width), before.x.subarray(-run.width));
  assert.ok(after.y.every(Number.isNaN));
  const other = { ...(run.preprocessing as object), width: 20 };
  await assert.rejects(service.prepareRows({ dataset: id, rows, preprocessing: other }), /20 × 16, these are 16 × 16/);
});
