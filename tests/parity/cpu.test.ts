// Every CPU kernel against its float64 reference, at every shape its contract lists, on one, two and three threads; and twice,
// since the same inputs have to give the same bits again. First WASM alone, then with the native addon where one was built.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import { kernels } from '../../kernels/registry.ts';
import { type BackendDevice, openKernelDevice } from './backend-device.ts';
import { checkKernel, runAgain, testedKernels } from './parity.ts';

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

    test(`${kernelName} agrees with its reference, with the same bits again and on any number of threads (${name})`, async () => {
      const devices = await openDevices();
      for (const parityCase of cases) {
        const first = await runAgain(kernelName, parityCase, devices[0]);
        for (const device of devices) {
          const checked = await checkKernel(kernelName, parityCase, device);
          assert.deepEqual(checked, first, `${kernelName} on ${device.name}, case ${JSON.stringify(parityCase)}`);
        }
      }
    });
  }
}
