// The GPU follows PyTorch and the CPU: gradients of a first step, losses of the first ones.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { openWorkload, type Workload, workloads } from '../bench/workloads.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';
import { goldenNames, readGolden, replay } from './golden.ts';

const skip = await missingGpu();
const openBackend = async (): Promise<Backend> => createWebgpuBackend(await testGpu());

for (const golden of goldenNames.map(readGolden)) {
  test(`golden: ${golden.name} on webgpu`, { skip }, async () => {
    const backend = await openBackend();
    const { losses, gradients } = await replay(golden, backend);
    await backend.close();
    losses.forEach((loss, step) => {
      const wanted = golden.losses[step];
      assert.ok(Math.abs(loss - wanted) <= 2e-5 * Math.abs(wanted), `loss ${step}: ${loss}, PyTorch has ${wanted}`);
    });
    for (const [parameter, wanted] of Object.entries(golden.gradients)) {
      const scale = Math.max(...wanted.map(Math.abs));
      wanted.forEach((value, i) => {
        const got = gradients[parameter][i];
        assert.ok(Math.abs(got - value) <= 1e-6 + 2e-5 * scale, `${parameter}[${i}]: ${got}, PyTorch has ${value}`);
      });
    }
  });
}

for (const workload of workloads) {
  test(`the first 50 losses of ${workload.name} agree on CPU and GPU within 1e-4`, { skip }, async () => {
    const steps = 50;
    const wanted = await firstLosses(workload, createCpuBackend({ threads: 1 }), steps);
    const got = await firstLosses(workload, await openBackend(), steps);
    assert.equal(got.length, steps);
    got.forEach((loss, step) => {
      const difference = Math.abs(loss - wanted[step]) / Math.abs(wanted[step]);
      assert.ok(difference <= 1e-4, `step ${step}: ${loss} on the GPU, ${wanted[step]} on the CPU`);
    });
  });
}

/** The losses of consecutive steps, in submits as long as the workload's step tables. */
async function firstLosses(workload: Workload, backend: Backend, steps: number): Promise<readonly number[]> {
  const executable = await openWorkload(workload, backend);
  const losses: number[] = [];
  while (losses.length < steps) {
    const count = Math.min(workload.steps, steps - losses.length);
    await executable.run(workload.program, count);
    losses.push(...((await executable.read('ring.loss', 0, count)) as Float32Array));
  }
  await backend.close();
  return losses;
}
