// Metric points: kept bit for bit, summed up for the list of runs, thinned for drawing, dropped after a checkpoint.

import assert from 'node:assert/strict';
import test from 'node:test';
import { packValues, unpackValues } from '../../engine/history/samples.ts';
import { lowestIsBest } from '../../engine/history/series.ts';
import { createStore } from '../../engine/history/store.ts';
import { thinCurve } from '../../engine/protocol/thin-curve.ts';
import type { MetricPoint, RunResult } from '../../engine/protocol/runs.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

/** The points that stay. */
const thin = <Point extends { readonly step: number; readonly value: number }>(
  points: readonly Point[],
  limit: number,
): readonly Point[] =>
  thinCurve(
    points.length,
    (index) => points[index].step,
    (index) => points[index].value,
    limit,
  ).map((index) => points[index]);

test('packed values come out as they went in', () => {
  const values = [0, -0, 1 / 3, 5e-324, -1.7976931348623157e308, NaN, Infinity, -Infinity];
  const packed = packValues(values.map((value, index) => ({ series: index * 9000 + 1, value })));
  assert.equal(packed.length, 10 * values.length);
  // An odd offset, as in a row that SQLite hands out.
  const shifted = new Uint8Array(packed.length + 3);
  shifted.set(packed, 3);
  const seen: [number, number][] = [];
  unpackValues(shifted.subarray(3), (series, value) => seen.push([series, value]));
  assert.deepEqual(
    seen,
    values.map((value, index) => [index * 9000 + 1, value]),
  );
});

test('losses and errors are best at their lowest, everything else at its highest', () => {
  for (const name of ['loss', 'val_loss', 'train_loss', 'val_mae', 'test_rmse', 'mse'])
    assert.ok(lowestIsBest(name), name);
  for (const name of ['val_accuracy', 'val_r2', 'lossless', 'learning_rate']) assert.ok(!lowestIsBest(name), name);
});

test('points are read as they were appended, series by series, some or all of them', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  const other = await store.createRun(newRun());
  const batches = [
    [point('train_loss', 1, 0.1 + 0.2), point('learning_rate', 1, 1e-3)],
    [point('train_loss', 2, NaN), { ...point('val_loss', 2, 0.5), seconds: 9 }],
    [point('train_loss', 3, Infinity)],
  ];
  for (const points of batches) await store.append({ run: id, points });
  await store.append({ run: other.id, points: [point('train_loss', 1, 7)] });

  const all = batches.flat();
  const of = (series: string) => all.filter((each) => each.series === series);
  assert.deepEqual(await store.metrics({ run: id }), [...of('train_loss'), ...of('learning_rate'), ...of('val_loss')]);
  assert.deepEqual(await store.metrics({ run: id, series: ['val_loss', 'nothing'] }), of('val_loss'));
  assert.deepEqual(await store.metrics({ run: id, afterStep: 2 }), [point('train_loss', 3, Infinity)]);
  assert.deepEqual(await store.metrics({ run: id, series: [] }), []);
  await store.close();
});

test('the best score of a run is that of the weights it keeps, while it goes on, at its end, and where it is sorted by', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  const epochs = [
    [0.9, 0.5],
    [0.4, 0.62],
    [0.6, 0.7],
  ] as const;
  for (const [index, [loss, accuracy]] of epochs.entries()) {
    const at = (series: string, value: number): MetricPoint => ({
      series,
      step: index,
      epoch: index + 1,
      seconds: index,
      value,
    });
    await store.append({ run: id, points: [at('val_accuracy', accuracy), at('val_loss', loss), at('rate', index)] });
  }
  const going = (await store.run({ run: id })).best;
  assert.deepEqual(going, {
    rate: { value: 2, epoch: 3 },
    val_accuracy: { value: 0.62, epoch: 2 },
    val_loss: { value: 0.4, epoch: 2 },
  });
  await store.truncate({ run: id, afterStep: 0 });
  assert.deepEqual((await store.run({ run: id })).best.val_accuracy, { value: 0.5, epoch: 1 });
  const metrics = { val_loss: 0.41, val_accuracy: 0.61 };
  const result = { reason: 'completed', bestEpoch: 2, metrics } as unknown as RunResult;
  await store.updateRun({ run: id, patch: { state: 'running' } });
  await store.updateRun({ run: id, patch: { state: 'completed', result } });
  assert.deepEqual((await store.run({ run: id })).best.val_accuracy, { value: 0.61, epoch: 2 });
  const sorted = await store.runs({ sort: { by: 'best.val_accuracy', descending: true } });
  assert.equal(sorted.runs[0].best.val_accuracy.value, 0.61);
  await store.close();
});

test('last and best follow every append; NaN is never best; of equal values the first is', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  await store.append({ run: id, points: [point('val_loss', 1, NaN), point('val_accuracy', 1, 0.5)] });
  assert.deepEqual((await store.run({ run: id })).best, { val_accuracy: { value: 0.5, epoch: 0.1 } });

  await store.append({ run: id, points: [point('val_loss', 2, 3), point('val_loss', 3, 2), point('val_loss', 4, 2)] });
  await store.append({ run: id, points: [point('val_loss', 5, 2), point('val_accuracy', 5, 0.4)] });
  await store.append({ run: id, points: [point('val_loss', 6, NaN)] });
  const { last, best } = await store.run({ run: id });
  assert.deepEqual(best, { val_loss: { value: 2, epoch: 0.3 }, val_accuracy: { value: 0.5, epoch: 0.1 } });
  assert.deepEqual(last, { val_loss: NaN, val_accuracy: 0.4 });
  await store.close();
});

test('truncating drops the points after a step from the curves and from the summary', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  for (let step = 1; step <= 5; step++) await store.append({ run: id, points: [point('val_loss', step, 10 - step)] });
  await store.append({ run: id, points: [point('late', 5, 1)] });
  await store.truncate({ run: id, afterStep: 3 });
  assert.deepEqual(
    (await store.metrics({ run: id })).map(({ step }) => step),
    [1, 2, 3],
  );
  const { last, best } = await store.run({ run: id });
  assert.deepEqual([last, best], [{ val_loss: 7 }, { val_loss: { value: 7, epoch: 0.3 } }]);
  await store.truncate({ run: id, afterStep: -1 });
  assert.deepEqual(await store.metrics({ run: id }), []);
  assert.deepEqual((await store.run({ run: id })).last, {});
  await store.close();
});

test('of several values at one step the last counts', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  await store.append({ run: id, points: [point('val_loss', 1, 3), point('val_loss', 2, 2)] });
  await store.append({ run: id, points: [point('val_loss', 2, 1), point('val_loss', 3, 0)] });
  const values = (await store.metrics({ run: id })).map(({ step, value }) => [step, value]);
  assert.deepEqual(values, [
    [1, 3],
    [2, 1],
    [3, 0],
  ]);
  await store.close();
});

test('an append that fails leaves nothing of itself', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  const broken = { ...point('val_loss', 2, 1), epoch: 'x' as unknown as number };
  await assert.rejects(store.append({ run: id, points: [point('new_series', 1, 1), broken] }));
  assert.deepEqual(await store.metrics({ run: id }), []);
  await store.append({ run: id, points: [point('other', 1, 2)] });
  assert.deepEqual(await store.metrics({ run: id }), [point('other', 1, 2)]);
  await store.close();
});

test('thinning keeps the ends, the order, each spike and the limit', () => {
  const values = Array.from({ length: 1000 }, (_, index) => Math.sin(index / 30));
  values[333] = 50;
  values[667] = -50;
  const points = values.map((value, step) => ({ step, value }));
  for (const limit of [2, 3, 10, 101, 999]) {
    const kept = thin(points, limit);
    assert.ok(kept.length <= limit, `${kept.length} of at most ${limit}`);
    assert.equal(kept[0], points[0]);
    assert.equal(kept.at(-1), points.at(-1));
    assert.ok(kept.every((each, index) => index === 0 || each.step > kept[index - 1].step));
    if (limit >= 10) {
      assert.ok(kept.includes(points[333]));
      assert.ok(kept.includes(points[667]));
    }
  }
  assert.deepEqual(thin(points, 1000), points);
  assert.equal(thin(points.slice(0, 2), 0).length, 2);
  assert.deepEqual(thin([], 0), []);
});

test('a curve that grows and is thinned again and again keeps its beginning as it keeps its end', () => {
  const spike = { step: 17, value: 50 };
  let kept: readonly { step: number; value: number }[] = [];
  for (let step = 0; step < 40_000; step++) {
    const grown = [...kept, step === spike.step ? spike : { step, value: Math.sin(step) }];
    kept = grown.length > 200 ? thin(grown, 100) : grown;
  }
  kept = thin(kept, 100);
  const early = kept.filter(({ step }) => step < 20_000).length / kept.length;
  assert.ok(kept.length > 50, `${kept.length} points are left`);
  assert.ok(early > 0.4 && early < 0.6, `${early} of the points stand in the first half`);
  assert.ok(kept.includes(spike));
});

test('thinning shows where a curve stopped being finite', () => {
  const points = Array.from({ length: 300 }, (_, step) => ({ step, value: step < 150 ? step : NaN }));
  const kept = thin(points, 20);
  const firstNaN = kept.find(({ value }) => Number.isNaN(value));
  assert.ok(firstNaN && firstNaN.step < 170);
  assert.ok(kept.some(({ step, value }) => step > 100 && step < 150 && Number.isFinite(value)));
});

test('the limit counts for each series by itself', async (context) => {
  const store = createStore(temporaryHome(context));
  const { id } = await store.createRun(newRun());
  const points = Array.from({ length: 500 }, (_, step) => [
    point('train_loss', step, Math.random()),
    ...(step % 100 === 0 ? [point('val_loss', step, 1)] : []),
  ]);
  await store.append({ run: id, points: points.flat() });
  const thinned = await store.metrics({ run: id, limit: 50 });
  assert.equal(thinned.filter(({ series }) => series === 'val_loss').length, 5);
  assert.equal(thinned.filter(({ series }) => series === 'train_loss').length, 50);
  await store.close();
});
