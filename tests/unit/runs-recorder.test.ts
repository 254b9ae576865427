// What a run reports reaches the store in the order in which it was said, however slow the store is.

import assert from 'node:assert/strict';
import test from 'node:test';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { patientStore } from '../../engine/runs/patient-store.ts';
import { createRecorder } from '../../engine/runs/recorder.ts';

const point = (step: number): MetricPoint => ({ series: 'loss', step, epoch: 1, seconds: 1, value: 1 });
const progress = {
  epoch: 1,
  epochs: 1,
  step: 1,
  steps: 1,
  examplesPerSecond: 1,
  secondsTraining: 1,
  secondsElapsed: 1,
  secondsLeft: 1,
  loss: 1,
};

test('points reported after a truncation are not dropped by it, though a batch waited before it', async () => {
  const steps: number[] = [];
  const late = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400));
  const store: Pick<StoreService, 'append' | 'truncate'> = {
    async append({ points }) {
      await late();
      steps.push(...points.map(({ step }) => step));
      return { request: null };
    },
    async truncate({ afterStep }) {
      steps.splice(0, steps.length, ...steps.filter((step) => step <= afterStep));
    },
  };
  const recorder = createRecorder({
    store: store as StoreService,
    run: 1,
    onRequest: () => undefined,
    onFailure: (error) => assert.fail(String(error)),
  });
  recorder.report([point(1), point(2)], progress);
  // The first batch is being written and a second one waits by then.
  await late();
  recorder.inOrder(() => store.truncate({ run: 1, afterStep: 1 }));
  recorder.report([point(2), point(3)], progress);
  await recorder.close();
  assert.deepEqual(steps, [1, 2, 3]);
});

test('a store that dies in the middle of a batch gets it once more, unless it was written', async () => {
  const gone = new TrainyardError('internal.disconnected', 'The store was closed.');
  for (const diesAfterWriting of [false, true]) {
    const kept: MetricPoint[] = [];
    const files: string[] = [];
    let deaths = 0;
    const store: Pick<StoreService, 'append' | 'writeFile'> = {
      async append({ points, again = false }) {
        if (again && points.every((each) => kept.includes(each))) return { request: null };
        const dies = points.length > 0 && deaths++ === 0;
        if (!dies || diesAfterWriting) kept.push(...points);
        if (dies) throw gone;
        return { request: null };
      },
      async writeFile({ file }) {
        if (deaths++ === 1) throw gone;
        files.push(file);
      },
    };
    const recorder = createRecorder({
      store: patientStore(store as StoreService),
      run: 1,
      onRequest: () => undefined,
      onFailure: (error) => assert.fail(String(error)),
    });
    recorder.report([point(1), point(2)], progress);
    recorder.file({ file: 'checkpoint.bin', data: new Uint8Array(1) });
    recorder.report([point(3)], progress);
    await recorder.close();
    assert.deepEqual(
      kept.map(({ step }) => step),
      [1, 2, 3],
    );
    assert.deepEqual(files, ['checkpoint.bin']);
  }
});

test('where there is nothing to write the store is asked for requests of others once a second; files wait for no empty batch', async (test) => {
  test.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  test.mock.method(performance, 'now', () => now);
  const pass = async (milliseconds: number): Promise<void> => {
    for (let at = 0; at < milliseconds; at += 50) {
      now += 50;
      test.mock.timers.tick(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const batches: number[] = [];
  const files: string[] = [];
  const requests: string[] = [];
  const store: Pick<StoreService, 'append' | 'writeFile'> = {
    async append({ points }) {
      batches.push(points.length);
      return { request: batches.length === 3 ? 'pause' : null };
    },
    writeFile: async ({ file }) => void files.push(file),
  };
  const recorder = createRecorder({
    store: store as StoreService,
    run: 1,
    onRequest: (request) => requests.push(request),
    onFailure: (error) => assert.fail(String(error)),
  });
  await pass(4100);
  assert.deepEqual(batches, [0, 0, 0, 0], 'soon, then once a second');
  assert.deepEqual(requests, ['pause']);
  recorder.report([point(1)], progress);
  await pass(250);
  assert.deepEqual(batches.slice(4), [1], 'what is reported waits for the next quarter of a second alone');
  await recorder.file({ file: 'evaluation.json', data: new Uint8Array(1) });
  assert.deepEqual([batches.length, files], [5, ['evaluation.json']]);
  recorder.report([point(2)], progress);
  await recorder.file({ file: 'evaluation.json', data: new Uint8Array(1) });
  assert.deepEqual([batches.slice(5), files.length], [[1], 2], 'points come before the file that knows of them');
  await recorder.close();
});
