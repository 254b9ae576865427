// Losses and metrics are declared once: each loss has the same value on the training step and in float64, each metric its function,
// direction and words, and what history, charts and lists say of a metric is what the table says.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';
import { lowestIsBest } from '../../engine/history/series.ts';
import { lossRules } from '../../engine/model/losses.ts';
import {
  classMetrics,
  leadingMetrics,
  metricLimits,
  metrics,
  metricWords,
  valueMetrics,
} from '../../engine/model/metrics.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { losses, type LossName } from '../../engine/settings/training.ts';
import { evaluate } from '../../engine/train/metrics.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { makeTable } from '../support/table.ts';

for (const loss of Object.keys(losses) as LossName[]) {
  test(`${loss}: a training step and the validation of its rows have the same loss`, async () => {
    const classes = loss === 'cross_entropy' ? 3 : loss === 'binary_cross_entropy' ? 2 : 0;
    const table = makeTable({ rows: 12, numeric: 4, classes, split: [1, 0, 0] });
    const { output, input, width, task } = table.data;
    const base = defaultTraining(12, task);
    const smoothing = classes > 0 ? 0.1 : 0;
    const classWeights = classes > 0 ? 'balanced' : 'none';
    const training = { ...base, loss, classWeights, labelSmoothing: smoothing, huberDelta: 0.4 } as const;
    const model = resolveModel(mlp([5]), input, outputWidth(output, loss));
    assert.equal(model.outputs, lossRules[loss].width(classes));
    const plan = compilePlan({
      model,
      output,
      training,
      data: { rows: 12, width, targets: 1 },
      stepCapacity: 1,
      predictSteps: 1,
      trainBatches: [12],
      predictBatch: 12,
    });
    const executable = new ReferenceExecutable(plan);
    initializeWeights(executable, model, 3);
    executable.write('data.x', table.x);
    executable.write('data.y', table.y);
    executable.write(
      'step.indices',
      Uint32Array.from({ length: 12 }, (_, i) => i),
    );
    executable.write('step.scalars', Float32Array.of(0, 1, 1, 0));
    const weights = classes > 0 ? Float32Array.of(0.75, 1.5, 1.25).subarray(0, Math.max(2, model.outputs)) : null;
    if (weights) executable.write('loss.weights', weights);
    await executable.run('predict@12', 1);
    const outputs = (await executable.read('ring.outputs', 0, 12 * model.outputs)) as Float32Array;
    const { metrics: scores } = evaluate(outputs, table.y, { output, training, weights });
    await executable.run('train@12', 1);
    const stepped = executable.values('ring.loss')[0];
    assert.ok(Math.abs(scores.loss - stepped) < 1e-6 * Math.abs(stepped), `${scores.loss} and ${stepped}`);
  });
}

test('metrics of a classifier and of numbers, by hand', () => {
  const confusion = [
    [3, 1],
    [1, 5],
  ];
  const targets = Float32Array.of(0, 0, 0, 0, 1, 1, 1, 1, 1, 1);
  const probabilities = Float64Array.from(
    [...targets].flatMap((target, i) => {
      const p = i === 3 || i === 4 ? 1 - target : target;
      return [1 - p, p];
    }),
  );
  const { accuracy, balanced_accuracy, f1, ...others } = classMetrics({ confusion, probabilities, targets });
  assert.equal(accuracy, 0.8);
  assert.equal(balanced_accuracy, (3 / 4 + 5 / 6) / 2);
  assert.equal(f1, (6 / 8 + 10 / 12) / 2);
  assert.ok('roc_auc' in others && !('mae' in others));
  const one = { confusion: [[2]], probabilities: Float64Array.of(1, 1), targets: Float32Array.of(0, 0) };
  assert.ok(!('roc_auc' in classMetrics(one)), 'no ROC of one class');
  const values = { rows: 4, scale: 2, squares: 16, absolutes: 6, variance: 64 };
  assert.deepEqual(valueMetrics(values), { mae: 3, rmse: 4, r2: 0.75 });
  assert.ok(!('r2' in valueMetrics({ ...values, variance: 0 })), 'no R² of one value');
});

test('direction, words and limits of a series are those of its metric', () => {
  for (const [name, metric] of Object.entries(metrics)) {
    for (const split of ['', 'train_', 'val_', 'test_']) {
      assert.equal(lowestIsBest(split + name), metric.better === 'lower', split + name);
    }
    assert.equal(metricWords(name), metric.words);
  }
  assert.deepEqual(metricLimits('accuracy'), { minimum: 0, maximum: 1 });
  assert.deepEqual(metricLimits('r2'), { maximum: 1 });
  assert.deepEqual(metricLimits('of_tomorrow'), {});
  assert.equal(metricWords('of_tomorrow'), 'of tomorrow');
  assert.equal(lowestIsBest('val_some_error'), true);
  assert.equal(lowestIsBest('learning_rate'), false);
  const scores = Object.keys(metrics).filter((name) => name !== 'loss');
  assert.deepEqual([...leadingMetrics].sort(), scores.sort());
  assert.deepEqual(leadingMetrics.slice(0, 2), ['accuracy', 'r2']);
});
