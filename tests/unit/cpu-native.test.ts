// The native addon next to WASM: the same results within rounding on every instruction set this machine has, mixed programs,
// and that it can be left out. Skipped, saying so, where no C compiler was there to build it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative, loadNative } from '../../engine/backends/cpu/native.ts';
import { goldenNames, readGolden, replay } from '../golden/golden.ts';

const addon = findNative();
const skip = addon === undefined ? 'no native addon was built: no C compiler' : false;

/** Losses of the first steps of a golden model. */
async function losses(name: string, native: string | false, threads: number): Promise<readonly number[]> {
  const backend = createCpuBackend({ threads, native });
  const result = await replay(readGolden(name), backend);
  await backend.close();
  return result.losses;
}

test('1. trains like WASM, whose calls stand between the native ones', { skip }, async () => {
  for (const name of goldenNames) {
    const wasm = await losses(name, false, 1);
    for (const threads of [1, 2]) {
      const native = await losses(name, addon!, threads);
      native.forEach((loss, step) => {
        assert.ok(
          Math.abs(loss - wasm[step]) <= 1e-5 * wasm[step],
          `${name}, step ${step}: ${loss}, WASM ${wasm[step]}`,
        );
      });
    }
  }
});

test('2. gives the same bits again', { skip }, async () => {
  for (const native of [false, addon!] as const) {
    for (const name of goldenNames) {
      assert.deepEqual(await losses(name, native, 2), await losses(name, native, 2));
    }
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
