// The page of a run that trains while its history is still being read.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { viewState } from '../support/view-state.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';

interface Page {
  readonly series: ReadonlyMap<string, { readonly step: readonly number[] }>;
  open(): () => void;
}

const points = (...steps: number[]): MetricPoint[] =>
  steps.map((step) => ({ series: 'loss', step, epoch: step, seconds: step, value: 1 / step }));

test('points reported while the history is being read are not lost', async () => {
  let report: (event: { run: number; points: MetricPoint[]; progress: object }) => void = () => undefined;
  let answer: (points: MetricPoint[]) => void = () => undefined;
  const run = { id: 7, state: 'running', progress: null };
  const service = {
    run: async () => run,
    metrics: () => new Promise<MetricPoint[]>((resolve) => (answer = resolve)),
    log: async () => [],
    evaluation: async () => null,
    onReport: (listener: typeof report) => ((report = listener), () => undefined),
    onRunsChanged: () => () => undefined,
  };
  const page = (await viewState('views/run/run.svelte.ts', 'RunPage', 7, service)) as Page;
  const close = page.open();
  await setImmediate();
  const progress = { epoch: 1, epochs: 9 };
  report({ run: 7, points: points(6, 7), progress });
  report({ run: 7, points: points(8), progress });
  // As the history was before them, and with one that was in both.
  answer(points(1, 2, 3, 4, 5, 6));
  await setImmediate();
  assert.deepEqual(page.series.get('loss')?.step, [1, 2, 3, 4, 5, 6, 7, 8]);
  report({ run: 7, points: points(9), progress });
  await setTimeout(600);
  assert.deepEqual(page.series.get('loss')?.step.at(-1), 9);
  close();
});
