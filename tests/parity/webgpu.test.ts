// Every kernel on the WebGPU backend against its float64 reference, at every shape of its contract; twice, for the same bits;
// and some without subgroup operations on grids so narrow that larger dispatches have to be folded.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createWebgpuBackend, type WebgpuOptions } from '../../engine/backends/webgpu/backend.ts';
import { gpuKernels } from '../../kernels/gpu-registry.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, runAgain, testedKernels } from './parity.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const tested = testedKernels.filter((name) => gpuKernels[name]);
/** Each way a grid is laid out, and every kernel that uses subgroup operations where there are some. */
const foldedKernels: readonly KernelName[] = [
  ...(['activation', 'gather_rows', 'matmul', 'dense_weight_grad', 'embedding_grad', 'layer_norm'] as const),
  ...(['broadcast_binary', 'permute', 'reduce', 'softmax', 'softmax_grad', 'gather_grad'] as const),
  ...(['softmax_cross_entropy', 'binary_cross_entropy', 'regression_loss', 'sum_squares', 'adam'] as const),
];
const foldedNames = foldedKernels.filter((name) => testedKernels.includes(name));
const folding: WebgpuOptions = { subgroups: false, limits: { maxComputeWorkgroupsPerDimension: 6 } };
let device: BackendDevice;
let folded: BackendDevice;
const skip = await missingGpu();

before(async () => {
  if (skip) return;
  const open = async (name: string, options: WebgpuOptions, some: readonly KernelName[]): Promise<BackendDevice> =>
    openKernelDevice(createWebgpuBackend(await testGpu(), options), name, some);
  device = await open('webgpu', {}, tested);
  folded = await open('webgpu without subgroups, 6 workgroups a dimension', folding, foldedNames);
});

after(async () => {
  if (skip) return;
  await device.close();
  await folded.close();
});

for (const name of tested) {
  const { cases } = kernels[name];

  test(`${name} agrees with its reference, and gives the same bits again`, { skip }, async () => {
    for (const parityCase of cases) {
      const first = await checkKernel(name, parityCase, device);
      assert.deepEqual(await runAgain(name, parityCase, device), first, JSON.stringify(parityCase));
    }
  });
}

for (const name of foldedNames) {
  test(`${name} agrees with its reference on folded grids`, { skip }, async () => {
    for (const parityCase of kernels[name].cases) await checkKernel(name, parityCase, folded);
  });
}
