// The native addon next to WASM: the same results within rounding on every instruction set this machine has, mixed programs,
// and that it can be left out. Skipped, saying so, where no C compiler was there to build it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative, loadNative } from '../../engine/backends/cpu/native.ts';
import { openWorkload, workloads } from '../bench/workloads.ts';

const addon = findNative();
const skip = addon === undefined ? 'no native addon was built: no C compiler' : false;
const [tabular] = workloads;

/** Losses of the first steps of tabular-mlp. */
async function losses(native: string | false, threads: number, steps: number): Promise<Float32Array> {
  const backend = createCpuBackend({ threads, native });
  const executable = await openWorkload(tabular, backend);
  await executable.run(tabular.program, steps);
  const result = (await executable.read('ring.loss', 0, steps)) as Float32Array;
  await backend.close();
  return result;
}

test('1. trains like WASM: the losses of 50 steps agree within 1e-4', { skip }, async () => {
  const wasm = await losses(false, 1, 50);
  for (const threads of [1, 2]) {
    const native = await losses(addon!, threads, 50);
    native.forEach((loss, step) => {
      assert.ok(Math.abs(loss - wasm[step]) <= 1e-4 * wasm[step], `step ${step}: ${loss}, WASM ${wasm[step]}`);
    });
    assert.ok(native[49] < native[0], 'the loss falls');
  }
});

test('2. gives the same bits for the same thread count', { skip }, async () => {
  for (const native of [false, addon!] as const) {
    assert.deepEqual(await losses(native, 2, 50), await losses(native, 2, 50));
  }
});

test('3. is left out on request', { skip }, () => {
  const before = process.env.TRAINYARD_NATIVE;
  process.env.TRAINYARD_NATIVE = '0';
  try {
    assert.equal(findNative(), undefined);
    assert.match(createCpuBackend({ threads: 1 }).device.name, /SIMD$/);
  } finally {
    if (before === undefined) delete process.env.TRAINYARD_NATIVE;
    else process.env.TRAINYARD_NATIVE = before;
  }
  assert.equal(findNative('/nowhere/native.node'), undefined);
});

test('4. the AVX2 kernels agree with their references too', { skip: skip || process.arch !== 'x64' }, () => {
  assert.ok(loadNative(addon!).kernels.length > 0);
  // Without the variable that makes a nested test runner skip its files.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawnSync(process.execPath, ['--test', '--test-reporter=tap', 'tests/parity/cpu.test.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: { ...environment, TRAINYARD_NATIVE: 'avx2' },
    encoding: 'utf8',
  });
  assert.equal(child.status, 0, child.stdout);
  assert.match(child.stdout, /ok \d+ - .*matmul.*native/);
});
