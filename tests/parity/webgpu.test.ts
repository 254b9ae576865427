// Every kernel on the WebGPU backend against its float64 reference, at every shape of its contract: as the device is, and
// without subgroup operations on grids so narrow that larger dispatches have to be folded; and twice, for the same bits.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createWebgpuBackend, type WebgpuOptions } from '../../engine/backends/webgpu/backend.ts';
import { gpuKernels } from '../../kernels/gpu-registry.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, prepareCase } from './parity.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const settings: readonly { readonly name: string; readonly options: WebgpuOptions }[] = [
  { name: 'webgpu', options: {} },
  {
    name: 'webgpu without subgroups, 6 workgroups a dimension',
    options: { subgroups: false, limits: { maxComputeWorkgroupsPerDimension: 6 } },
  },
];
const names = (Object.keys(kernels) as KernelName[]).filter((name) => gpuKernels[name]);
const devices: BackendDevice[] = [];
const skip = await missingGpu();

before(async () => {
  if (skip) return;
  for (const { name, options } of settings) {
    devices.push(await openKernelDevice(createWebgpuBackend(await testGpu(), options), name, names));
  }
});

after(async () => {
  for (const device of devices) await device.close();
});

for (const name of names) {
  const { cases } = kernels[name];

  test(`${name} agrees with its reference`, { skip }, async () => {
    for (const device of devices) for (const parityCase of cases) await checkKernel(name, parityCase, device);
  });

  test(`${name} gives the same bits again`, { skip }, async () => {
    for (const parityCase of cases) {
      const { kernel, inputs, outputs } = prepareCase(kernels[name], parityCase);
      const [first, again] = [
        await devices[0].runKernel(kernel, parityCase, inputs, outputs),
        await devices[0].runKernel(kernel, parityCase, inputs, outputs),
      ];
      assert.deepEqual(again, first, JSON.stringify(parityCase));
    }
  });
}
