// How often a run tells of itself.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WaitingPoints } from '../../engine/train/points.ts';

test('reports leave twice a second at first and once a second later; no point is lost', () => {
  let now = 1_000;
  const heard: number[] = [];
  const waiting = new WaitingPoints(
    () => now,
    ({ step }) => heard.push(step),
  );
  const sent: { at: number; steps: readonly number[] }[] = [];
  const report = (urgent: boolean): void =>
    waiting.report(urgent, (points) => sent.push({ at: now, steps: points.map(({ step }) => step) }));
  const steps = 6_000;
  for (let step = 0; step < steps; step++) {
    waiting.add({ series: 'step_loss', step, epoch: step, seconds: step, value: 1 });
    report(false);
    now += 10;
  }
  report(true);
  const between = (from: number, to: number): number => sent.filter(({ at }) => at > from && at < to).length;
  assert.equal(sent[0].at, 1_000, 'the first at once');
  assert.deepEqual([between(1_000, 6_100), between(40_900, 61_000)], [10, 20]);
  const all = Array.from({ length: steps }, (_, step) => step);
  assert.deepEqual(
    sent.flatMap((one) => one.steps),
    all,
  );
  assert.deepEqual(heard, all, 'whoever listens to each hears it at once');
});
