// Every CPU kernel against its float64 reference, at every shape its contract lists, on one, two and three threads; and twice,
// since the same inputs have to give the same bits again. First WASM alone, then with the native addon where one was built.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, preparedCase, testedKernels } from './parity.ts';

const threadCounts = [1, 2, 3];
const addon = findNative();

testKernels('cpu', false);
if (addon) testKernels('cpu with native kernels', addon);
else test('native kernels agree with their references', { skip: 'no native addon was built: no C compiler' }, () => {});

function testKernels(name: string, native: string | false): void {
  let opened: Promise<readonly BackendDevice[]> | undefined;

  /** The devices, opened by the first test: older runners, like the one inside Electron, leave out some hooks. */
  const openDevices = (): Promise<readonly BackendDevice[]> =>
    (opened ??= Promise.all(
      threadCounts.map((threads) => {
        const backend = createCpuBackend({ threads, native });
        return openKernelDevice(backend, `${name}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`);
      }),
    ));

  after(async () => {
    for (const device of (await opened) ?? []) await device.close();
  });

  for (const kernelName of testedKernels) {
    const { cases } = kernels[kernelName];

    test(`${kernelName} agrees with its reference (${name})`, async () => {
      for (const device of await openDevices()) {
        for (const parityCase of cases) await checkKernel(kernelName, parityCase, device);
      }
    });

    test(`${kernelName} gives the same bits again, on any number of threads (${name})`, async () => {
      const devices = await openDevices();
      for (const parityCase of cases) {
        const { kernel, inputs, outputs } = preparedCase(kernelName, parityCase);
        const first = await devices[0].runKernel(kernel, parityCase, inputs, outputs);
        for (const device of devices) {
          const again = await device.runKernel(kernel, parityCase, inputs, outputs);
          assert.deepEqual(again, first, `${kernelName} on ${device.name}, case ${JSON.stringify(parityCase)}`);
        }
      }
    });
  }
}
