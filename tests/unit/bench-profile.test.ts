// Where a step goes: every call of the step in its order, with its work, held against what the device does at its best.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { measurePeaks, profileStep, type Peaks } from '../../engine/bench/profile.ts';
import { trainingWorkload } from '../../engine/bench/training-workload.ts';
import { productWorkload, workloads } from '../../engine/bench/workloads.ts';
import { groupCalls } from '../../engine/protocol/step-profile.ts';
import { smallCnn } from '../../engine/model/image-presets.ts';

const peaks: Peaks = { gflops: 100, copy: [1e4, 1e6].map((bytes, i) => ({ bytes, gbPerSecond: 40 - 30 * i })) };

/** Ticks a microsecond whenever it is looked at, and a second when a round is over. */
function ticking() {
  let now = 0;
  return { clock: () => (now += 0.001), between: async () => void (now += 1000) };
}

const picture = trainingWorkload({
  name: 'picture',
  unit: 'ms/step',
  rows: 8,
  batch: 8,
  input: { kind: 'image', channels: 1, height: 16, width: 16 },
  output: { kind: 'classes', classes: ['a', 'b', 'c'] },
  model: smallCnn(),
});
const steps = [picture, workloads.find(({ name }) => name === 'tabular-mlp')!];

for (const workload of steps) {
  for (const threads of [1, 2]) {
    test(`${workload.name}: the calls of a step on ${threads}, in their order, with all its work`, async () => {
      const backend = createCpuBackend({ threads });
      const { clock, between } = ticking();
      const profile = (await profileStep(backend, workload, peaks, clock, { between }))!;
      const [{ program }] = workload.programs;
      assert.equal(profile.threads, threads);
      assert.deepEqual(
        profile.calls.map(({ kernel }) => kernel),
        program.calls.map(({ kernel }) => kernel),
      );
      const sum = (of: (call: (typeof profile.calls)[number]) => number) =>
        profile.calls.reduce((all, call) => all + of(call), 0);
      assert.equal(
        sum(({ flops }) => flops),
        program.flops,
      );
      assert.equal(
        sum(({ bytes }) => bytes),
        program.bytes,
      );
      // A submit takes as long as any call, by this clock.
      assert.ok(profile.calls.every(({ milliseconds }) => milliseconds < 1e-9));
      for (const { bytes, flops, least, limit } of profile.calls) {
        const moving =
          bytes / 1e6 / (bytes <= 1e4 ? 40 : bytes >= 1e6 ? 10 : 40 - (30 * Math.log(bytes / 1e4)) / Math.log(100));
        assert.ok(least >= moving * (1 - 1e-12));
        assert.ok(limit === 'memory' ? Math.abs(least - moving) < 1e-12 : least <= (flops / 1e8) * (1 + 1e-12));
      }
      await backend.close();
    });
  }
}

test('what a submit takes is measured among the calls: the first after a pause takes many times as long', async () => {
  const backend = createCpuBackend({ threads: 1 });
  let [now, paused] = [0, true];
  const [submit, own, waking] = [0.01, 0.002, 0.5];
  const slow = {
    ...picture,
    openCalls: async (on: typeof backend) => ({
      ...(await picture.openCalls!(on)),
      steps: async () => ((now += 10), 1),
      call: async (position: number | null) => {
        now += submit + (paused ? waking : 0) + (position === null ? 0 : own);
        paused = false;
      },
    }),
  };
  const between = async () => void ((now += 200), (paused = true));
  const { calls } = (await profileStep(backend, slow, peaks, () => now, { between }))!;
  for (const { milliseconds } of calls) assert.ok(Math.abs(milliseconds - own) < 1e-9, String(milliseconds));
  await backend.close();
});

test('calls are put together, those with most time first', () => {
  const call = {
    layer: '0',
    phase: 'forward',
    kind: 'product',
    flops: 10,
    bytes: 5,
    share: 0.25,
    least: 1,
    limit: 'memory',
  } as const;
  const groups = groupCalls(
    [
      { ...call, kernel: 'add', milliseconds: 2 },
      { ...call, kernel: 'matmul', milliseconds: 3 },
      { ...call, kernel: 'add', milliseconds: 4 },
    ],
    ({ kernel }) => kernel,
  );
  assert.deepEqual(groups, [
    { name: 'add', calls: 2, milliseconds: 6, share: 0.5, least: 2, flops: 20, bytes: 10 },
    { name: 'matmul', calls: 1, milliseconds: 3, share: 0.25, least: 1, flops: 10, bytes: 5 },
  ]);
});

test('a product is one call, and cannot be taken apart; peaks are those of this device', async () => {
  const backend = createCpuBackend({ threads: 1 });
  assert.equal(await profileStep(backend, productWorkload(16), peaks, () => performance.now()), null);
  const found = await measurePeaks(backend, () => performance.now());
  assert.ok(found.gflops > 0.1 && found.copy.every(({ gbPerSecond }) => gbPerSecond > 0.1));
  assert.deepEqual(
    found.copy.map(({ bytes }) => bytes),
    found.copy.map(({ bytes }) => bytes).sort((a, b) => a - b),
  );
  await backend.close();
});

test('one row is answered by a program of one row', async () => {
  const one = workloads.find(({ name }) => name === 'mlp-one-row')!;
  // 784 · 512 + 512 · 512 + 512 · 10 weights, each multiplied and added once.
  const products = 2 * (784 * 512 + 512 * 512 + 512 * 10);
  assert.ok(one.flops >= products && one.flops < 1.01 * products);
  assert.equal(one.programs[0].program.batch, 1);
  const backend = createCpuBackend({ threads: 1 });
  const opened = await one.open(backend);
  await opened.run(3);
  opened.close();
  await backend.close();
});
