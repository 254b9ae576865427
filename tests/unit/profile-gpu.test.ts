// A step taken apart on the GPU: by its own clock, all calls in one submit; each submitted by itself where it has no such clock.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { hasTimestamps } from '../../engine/backends/webgpu/timestamps.ts';
import { profileStep, type Peaks } from '../../engine/bench/profile.ts';
import { profileWorkloads } from '../../engine/bench/profiling.ts';
import { runWorkload } from '../../engine/bench/run-workload.ts';
import { trainingWorkload } from '../../engine/bench/training-workload.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { profileText, type MeasuredProfile } from '../../engine/protocol/step-profile.ts';
import { countUse, missingGpu, testGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const peaks: Peaks = { gflops: 1, copy: [{ bytes: 1e6, gbPerSecond: 1 }] };
const input = { kind: 'table', width: 12, numeric: 12, embeddings: [] } as const;
const output = { kind: 'classes', classes: ['a', 'b', 'c'] } as const;
const workload = trainingWorkload({
  name: 'table',
  unit: 'ms/step',
  rows: 32,
  batch: 32,
  input,
  output,
  model: mlp([16]),
});

/** A GPU whose timestamps are as asked for, closed with the test. */
async function open(t: TestContext, timestamps: boolean) {
  const gpu = await testGpu();
  if (!timestamps) Object.defineProperty(gpu.device, 'features', { value: new Set<string>() });
  const backend = createWebgpuBackend(gpu);
  t.after(() => backend.close());
  return { gpu, backend };
}

test('programs are timed by the clock of the GPU call by call, an empty pass by less', { skip }, async (t) => {
  const { gpu, backend } = await open(t, true);
  if (!hasTimestamps(gpu.device)) return t.skip('this GPU has no timestamps');
  const large = trainingWorkload({
    name: 'l',
    unit: 'ms/step',
    rows: 64,
    batch: 64,
    input,
    output,
    model: mlp([256, 256]),
  });
  const opened = await large.openCalls!(backend);
  await opened.steps();
  const times = await opened.times!();
  const { calls } = opened.program;
  assert.equal(times.length, calls.length + 1);
  assert.ok(times.every((time) => time >= 0));
  const longest = times.indexOf(Math.max(...times));
  assert.ok(longest > 0, `an empty pass took longest: ${times.join()}`);
  opened.close();
});

for (const timestamps of [true, false]) {
  test(`every call of a step, ${timestamps ? 'by timestamps' : 'one by one'}`, { skip }, async (t) => {
    const { gpu, backend } = await open(t, timestamps);
    if (timestamps && !hasTimestamps(gpu.device)) return t.skip('this GPU has no timestamps');
    const counts = countUse(gpu);
    let now = 0;
    const between = async (): Promise<void> => void (now += 4000);
    const profile = (await profileStep(backend, workload, peaks, () => (now += 0.001), { between }))!;
    const [{ program }] = workload.programs;
    assert.deepEqual(
      profile.calls.map(({ kernel }) => kernel),
      program.calls.map(({ kernel }) => kernel),
    );
    assert.equal(profile.timed, timestamps ? 'by timestamps' : 'one by one');
    assert.ok(profile.step > 0);
    // By a clock that ticks when it is looked at a call takes as long as nothing; the GPU's own tells.
    const all = profile.calls.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    assert.equal(all > 1e-6, timestamps, `${all} ms`);
    t.diagnostic(`${counts.submits} submits`);
    assert.equal(counts.submits > 3 * program.calls.length, !timestamps, `${counts.submits} submits`);
  });
}

test('the step of a run on the GPU, held against the peaks of that GPU, in words', { skip }, async () => {
  let name = '';
  const openGpu = async () => {
    const backend = createWebgpuBackend(await testGpu());
    name = backend.device.name;
    return backend;
  };
  const file = { learner: 'network', input, output, task: 'classification', model: mlp([8]) } as const;
  const training = { ...defaultTraining(64, 'classification'), batch: 16 };
  let found: MeasuredProfile | null = null;
  await profileWorkloads(
    [runWorkload('run 1', { ...file, training }, 64)],
    { open: openGpu, threads: 0, clock: () => performance.now(), processors: 2, onProgress: () => {} },
    async (profile) => void (found = profile),
  );
  const profile = found as MeasuredProfile | null;
  assert.ok(profile && profile.peakGflops > 0.01 && profile.others === null);
  assert.equal(profile.gpu, name);
  const alone = { ...profile, gpu: 'GPU X', timed: 'one by one', step: 2, calls: [], peakGflops: 1 } as const;
  assert.equal(
    profileText(alone),
    '2 ms a step on GPU X; 0 calls, each submitted by itself 0 µs, 0 µs at this GPU’s best (1 GFLOP/s).',
  );
  assert.match(profileText({ ...alone, timed: 'by timestamps' }), /0 calls, by timestamps 0 µs/);
});
