// Every CPU kernel against its float64 reference, at every shape its contract lists, on one, two and three threads; and twice,
// since the same inputs have to give the same bits again. First WASM alone, then with the native addon where one was built.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, prepareCase } from './parity.ts';

const threadCounts = [1, 2, 3];
const addon = findNative();

testKernels('cpu', false);
if (addon) testKernels('cpu with native kernels', addon);
else test('native kernels agree with their references', { skip: 'no native addon was built: no C compiler' }, () => {});

function testKernels(name: string, native: string | false): void {
  const devices: BackendDevice[] = [];

  before(async () => {
    for (const threads of threadCounts) {
      const backend = createCpuBackend({ threads, native });
      devices.push(await openKernelDevice(backend, `${name}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`));
    }
  });

  after(async () => {
    for (const device of devices) await device.close();
  });

  for (const kernelName of Object.keys(kernels) as KernelName[]) {
    const { cases } = kernels[kernelName];

    test(`${kernelName} agrees with its reference (${name})`, async () => {
      for (const device of devices) {
        for (const parityCase of cases) await checkKernel(kernelName, parityCase, device);
      }
    });

    test(`${kernelName} gives the same bits again, on any number of threads (${name})`, async () => {
      for (const parityCase of cases) {
        const { kernel, inputs, outputs } = prepareCase(kernels[kernelName], parityCase);
        const first = await devices[0].runKernel(kernel, parityCase, inputs, outputs);
        for (const device of devices) {
          const again = await device.runKernel(kernel, parityCase, inputs, outputs);
          assert.deepEqual(again, first, `${kernelName} on ${device.name}, case ${JSON.stringify(parityCase)}`);
        }
      }
    });
  }
}
