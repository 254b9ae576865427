// Every CPU kernel against its float64 reference, at every shape its contract lists, on one, two and three threads; and twice,
// since the same inputs on the same threads have to give the same bits.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, prepareCase } from './parity.ts';

const threadCounts = [1, 2, 3];
const devices: BackendDevice[] = [];

before(async () => {
  for (const threads of threadCounts) {
    const backend = createCpuBackend({ threads, native: false });
    devices.push(await openKernelDevice(backend, `cpu, ${threads} ${threads === 1 ? 'thread' : 'threads'}`));
  }
});

after(async () => {
  for (const device of devices) await device.close();
});

for (const name of Object.keys(kernels) as KernelName[]) {
  const { cases } = kernels[name];

  test(`${name} agrees with its reference`, async () => {
    for (const device of devices) for (const parityCase of cases) await checkKernel(name, parityCase, device);
  });

  test(`${name} gives the same bits again, on any number of threads`, async () => {
    for (const parityCase of cases) {
      const { kernel, inputs, outputs } = prepareCase(kernels[name], parityCase);
      const first = await devices[0].runKernel(kernel, parityCase, inputs, outputs);
      for (const device of devices) {
        const again = await device.runKernel(kernel, parityCase, inputs, outputs);
        assert.deepEqual(again, first, `${name} on ${device.name}, case ${JSON.stringify(parityCase)}`);
      }
    }
  });
}
