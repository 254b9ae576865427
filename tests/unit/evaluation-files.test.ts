// What a run tells of itself class by class: after epochs and at the end, and for pictures row by row.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { RunEvaluation, RunPredictions } from '../../engine/protocol/evaluation.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import { EvaluationFiles } from '../../engine/train/evaluation-files.ts';
import { classScores, evaluate } from '../../engine/train/metrics.ts';
import { makeImages } from '../support/images.ts';
import { trainHere } from '../support/train.ts';

const input = { kind: 'image', channels: 1, height: 1, width: 1 } as const;
const output = { kind: 'classes', classes: ['cat', 'dog', 'owl'] } as const;

test('precision, recall and F1 of each class; null where there is nothing to divide by', () => {
  const scores = classScores(
    [
      [6, 2, 0],
      [3, 9, 0],
      [0, 0, 0],
    ],
    output.classes,
  );
  assert.deepEqual(scores, [
    { name: 'cat', rows: 8, predicted: 9, precision: 6 / 9, recall: 6 / 8, f1: 12 / 17 },
    { name: 'dog', rows: 12, predicted: 11, precision: 9 / 11, recall: 9 / 12, f1: 18 / 23 },
    { name: 'owl', rows: 0, predicted: 0, precision: null, recall: null, f1: null },
  ]);
});

test('live files come at most once in two seconds and name the rows of the dataset', () => {
  const files: { file: RunFile; content: unknown }[] = [];
  let time = 0;
  const writer = new EvaluationFiles({
    data: { input, output, counts: { train: 2, validation: 2, test: 0 }, sources: Uint32Array.of(9, 8, 7, 5) },
    clock: () => time,
    onFile: ({ file, data }) => files.push({ file, content: JSON.parse(new TextDecoder().decode(data)) }),
  });
  const outputs = Float32Array.of(0, 20, 0, 20, 0, 0);
  const targets = Float32Array.of(1, 2);
  const training = { loss: 'auto', labelSmoothing: 0, huberDelta: 1 } as const;
  const split = { evaluation: evaluate(outputs, targets, { output, training, weights: null }), outputs, targets };
  writer.live(1, 1, split);
  time = 1500;
  writer.live(2, 1, split);
  time = 2000;
  writer.live(3, 1, split);
  assert.deepEqual(
    files.map(({ file, content }) => [file, (content as RunEvaluation).epoch]),
    [
      ['evaluation.json', 1],
      ['predictions.json', 1],
      ['evaluation.json', 3],
      ['predictions.json', 3],
    ],
  );
  assert.deepEqual(files[1].content, {
    epoch: 1,
    classes: ['cat', 'dog', 'owl'],
    rows: [7, 5],
    truth: [1, 2],
    predicted: [1, 0],
    probability: [1, 1],
  });
});

test('a run on pictures ends with all splits, and with predictions that add up to its confusion matrix', async () => {
  const images = makeImages({ rows: 120, channels: 1, height: 8, width: 8, classes: 3 });
  const sources = Uint32Array.from({ length: 120 }, (_, row) => 1000 + row);
  const { files, result } = await trainHere(
    { ...images, data: { ...images.data, sources } },
    {
      backend: createCpuBackend({ threads: 1 }),
      model: { version: 1, layers: [{ type: 'flatten' }, { type: 'output' }] },
      training: { epochs: 2, batch: 32 },
    },
  );
  const read = (file: RunFile): unknown => JSON.parse(new TextDecoder().decode(files.get(file)));
  const evaluation = read('evaluation.json') as RunEvaluation;
  const predictions = read('predictions.json') as RunPredictions;
  assert.equal(evaluation.final, true);
  assert.equal(evaluation.epoch, result.bestEpoch);
  assert.deepEqual(Object.keys(evaluation.splits), ['train', 'validation', 'test']);
  assert.equal(evaluation.splits.test?.metrics.accuracy, result.metrics.test_accuracy);
  const confusion = [0, 1, 2].map(() => [0, 0, 0]);
  predictions.truth.forEach((k, row) => confusion[k][predictions.predicted[row]]++);
  assert.deepEqual(confusion, evaluation.splits.validation?.confusion);
  assert.deepEqual(predictions.rows, [...sources.subarray(96, 108)]);
});
