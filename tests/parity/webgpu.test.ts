// Every kernel on the WebGPU backend against its float64 reference, at every shape of its contract.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { kernels, type KernelName } from '../../kernels/registry.ts';
import { openKernelDevice } from './backend-device.ts';
import { checkKernel } from './parity.ts';
import { testGpu } from './webgpu-device.ts';

const gpu = await testGpu();
const missing = 'missing' in gpu && gpu.missing;

test('WebGPU kernels agree with their references', { skip: missing }, async (t) => {
  assert.ok(!('missing' in gpu));
  const device = await openKernelDevice(createWebgpuBackend(gpu), `webgpu, ${gpu.name}`);
  for (const [name, kernel] of Object.entries(kernels)) {
    for (const parityCase of kernel.cases) {
      await t.test(`${name} ${JSON.stringify(parityCase)}`, () => checkKernel(name as KernelName, parityCase, device));
    }
  }
  await device.close();
});
