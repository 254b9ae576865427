// The seam of learners: whatever learns opens on a job, goes on by a budget and ends with a result; what it says of itself is all
// that others know of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { checkForms } from '../../engine/data/prepare.ts';
import type { StartedEvent } from '../../engine/learners/learner.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import type { MetricPoint, RunConfig, RunResult } from '../../engine/protocol/runs.ts';
import { RunControl } from '../../engine/train/control.ts';
import { makeTable } from '../support/table.ts';
import { tableConfig } from './fixtures/training.ts';

const table = makeTable({ rows: 120, numeric: 3, classes: 2 });

interface Outcome {
  readonly advances: number;
  readonly points: readonly MetricPoint[];
  readonly result: RunResult;
  readonly started: readonly StartedEvent[];
}

/** Trains to the end in slices of so many milliseconds. */
async function learn(config: RunConfig, slice: number): Promise<Outcome> {
  const points: MetricPoint[] = [];
  const started: StartedEvent[] = [];
  const training = await learnerNamed(config.learner).open({
    config,
    data: table.data,
    readShard: table.readShard,
    dataBudget: 1e9,
    backend: async () => createReferenceBackend(),
    control: new RunControl(),
    surroundings: {
      clock: () => performance.now(),
      now: () => Date.now(),
      breathe: () => new Promise((resolve) => setImmediate(resolve)),
    },
    events: {
      onStarted: (event) => started.push(event),
      onReport: (event) => points.push(...event.points),
      onLog: () => undefined,
      onPaused: () => undefined,
      onFile: () => undefined,
    },
  });
  let advances = 1;
  while (await training.advance(slice)) advances++;
  return { advances, points, result: training.result(), started };
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

test('what goes wrong reaches whoever advances or opens', async () => {
  const config = tableConfig(2);
  const optimizer = { ...config.training.optimizer, name: 'sgd' as const, learningRate: 1e30 };
  const diverging = { ...config, training: { ...config.training, optimizer } };
  await assert.rejects(learn(diverging, 0), { code: 'run.diverged' });
  const layers = [{ type: 'conv2d', filters: 2, kernel: 3 }, { type: 'output' }];
  await assert.rejects(learn({ ...config, model: { version: 1, layers } }, 0), /image|conv/i);
});

test('rows of a form that a dataset does not have are refused', () => {
  checkForms({ kind: 'table', name: 't' }, ['matrix', 'pixels']);
  assert.throws(() => checkForms({ kind: 'images', name: 'cats' }, ['matrix']), {
    code: 'input.form',
    message: /cats holds pictures/,
  });
});
