// The self-test of a host: what it stores is what the reference computes, it passes on a sound device, tells a broken one, and
// a host then uses the best way that passes, and says so.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { selfTest, selfTestCases, selfTestLosses } from '../../engine/train/self-test.ts';
import { findTrust, openTrusted, type Rung, type TrustOptions } from '../../engine/train/trust.ts';
import { cpuTrust, openCpu } from '../../electron/hosts/trusted-cpu.ts';
import { makeTable } from '../support/table.ts';
import { trainHere } from '../support/train.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

test('the stored losses are those of the float64 reference', async () => {
  for (const each of selfTestCases) {
    const losses = await selfTestLosses(each, createReferenceBackend());
    assert.equal(losses.length, each.losses.length);
    losses.forEach((loss, i) =>
      assert.ok(Math.abs(loss - each.losses[i]) < 2e-7, `${each.name}: ${losses.join(', ')}`),
    );
  }
});

test('the CPU passes on one thread and on several, with the addon and without', async () => {
  for (const native of [false, undefined] as const) {
    if (native === undefined && !findNative()) continue;
    for (const threads of [1, 2, 3]) assert.equal(await selfTest(createCpuBackend({ threads, native }), rest), null);
  }
});

test('the GPU passes', { skip: await missingGpu() }, async () => {
  const backend = createWebgpuBackend(await testGpu());
  const start = performance.now();
  assert.equal(await selfTest(backend, async () => undefined), null);
  console.log(`# self-test of the GPU: ${(performance.now() - start).toFixed(0)} ms`);
  await backend.close();
});

/** A CPU whose threads come back before their share is done, once in a while. */
function forgetful(): Backend {
  const backend = createCpuBackend({ threads: 1 });
  let runs = 0;
  return {
    ...backend,
    async compile(plan) {
      const executable = await backend.compile(plan);
      return { ...executable, run: async (...args) => (++runs % 3 === 0 ? undefined : executable.run(...args)) };
    },
  };
}

function ladder(
  rungs: readonly Rung[],
  store = new Map<string, string>(),
): TrustOptions & { store: Map<string, string> } {
  return { device: 'CPU', rungs, key: 'engine 1', store, rest, clock: () => performance.now() };
}

const broken: Rung = { name: '2 threads', open: forgetful };
const crashing: Rung = {
  name: 'the addon',
  open: () => {
    throw new Error('CPU thread 1 ended unexpectedly.');
  },
};
const sound: Rung = { name: 'one thread', open: () => createCpuBackend({ threads: 1 }) };

test('a device that computes wrong is told, and the best way that passes is used with a warning', async () => {
  const backend = await openTrusted(ladder([broken, crashing, sound]));
  const { warning = '' } = backend.device;
  assert.match(warning, /^The CPU failed its self-test \(2 threads: .* of a small MLP is \d.* instead of \d/);
  assert.match(warning, /the addon: CPU thread 1 ended unexpectedly/);
  assert.match(warning, /what passed is used: one thread/);
  const { log } = await trainHere(makeTable({ rows: 60, numeric: 3, classes: 2 }), {
    backend,
    training: { epochs: 1 },
  });
  assert.deepEqual(
    log.filter(({ level }) => level === 'warning').map(({ message }) => message),
    [warning],
  );
  assert.equal((await openTrusted(ladder([sound]))).device.warning, undefined);
});

test('with a warning a device can do all that it can without', async () => {
  const able: Backend = {
    ...createReferenceBackend(),
    dataBudget: 2 ** 20,
    multiplyAddRate: (threads) => threads,
    peaks: async () => ({ gflops: 1, copyGigabytes: 2 }),
  };
  const opened = await openTrusted(ladder([broken, { name: 'the reference', open: () => able }]));
  assert.match(opened.device.warning ?? '', /self-test/);
  assert.deepEqual({ ...opened, device: able.device }, able);
});

test('what was found is remembered under its key, tested anew on demand, and nonsense counts as nothing', async () => {
  const options = ladder([broken, sound]);
  const first = await findTrust(options);
  assert.equal(first.rung, 1);
  // Remembered: the broken rung is not tried again, though it would pass now.
  const mended = ladder([sound, sound], options.store);
  assert.deepEqual(await findTrust(mended), first);
  assert.equal((await findTrust({ ...mended, key: 'engine 2' })).rung, 0);
  assert.equal((await findTrust(mended, true)).rung, 0);
  for (const text of ['', '{', '7', '{"rung":-1,"problems":[]}', '{"rung":9,"problems":[]}', '{"rung":1}']) {
    mended.store.set('self-test engine 1', text);
    assert.equal((await findTrust(mended)).rung, 0, text);
  }
});

test('a device of which nothing passes is refused', async () => {
  await assert.rejects(openTrusted(ladder([broken])), {
    code: 'device.self_test',
    message: /computes wrong results here: 2 threads/,
    hint: /another device/,
  });
});

test('the host opens this CPU at its best, and keeps that for the next one', async (context) => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'trainyard-trust-'));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  assert.equal((await openCpu({ home })).device.warning, undefined);
  const options = cpuTrust({ home });
  assert.notEqual(options.store?.get(`self-test ${options.key}`), undefined);
  assert.match(options.key, new RegExp(`V8 ${process.versions.v8}`));
  assert.equal(options.rungs.at(-1)?.name, 'the float64 reference, which is slow');
});
