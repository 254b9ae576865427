// Random shapes over all kernels, always the same ones: a short form of tests/parity/shapes.ts, by WebAssembly and natively. The harness has to
// tell a write beside an output and a wrong number in a drawn case.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { kernels } from '../../kernels/registry.ts';
import { drawCases } from './drawn-cases.ts';
import { checkDrawn } from './drawn-shapes.ts';
import { testedKernels } from './parity.ts';

/** Over all kernels: some five each, more of those that do most of the work. */
const shapes = 400;
const addon = findNative();

test('all kernels agree with their references at drawn shapes, on any number of threads the same bits', async () => {
  const variants = addon === undefined ? [false as const] : [false as const, addon];
  assert.deepEqual(await checkDrawn(drawCases(testedKernels, shapes, 2), variants), []);
});

test(
  'the same natively by AVX2 alone',
  { skip: !(addon && process.arch === 'x64') && 'no native addon for AVX2' },
  () => {
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const args = ['tests/parity/shapes.ts', '--native-only', '--shapes', `${shapes}`, '--seed', '3'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: new URL('../..', import.meta.url),
      env: { ...environment, TRAINYARD_NATIVE: 'avx2' },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /^\d{3} shapes, 0 wrong \(AVX2\)$/m);
  },
);

test('shapes are the same ones for the same seed, others for another, and such as a plan may have', () => {
  const drawn = (seed: number) => JSON.stringify([...drawCases(testedKernels, shapes, seed)]);
  assert.equal(drawn(2), drawn(2));
  assert.notEqual(drawn(2), drawn(3));
  for (const [name, cases] of drawCases(testedKernels, shapes, 2)) {
    for (const { params } of cases) assert.equal(kernels[name].problem?.(params as never) ?? null, null);
  }
});
