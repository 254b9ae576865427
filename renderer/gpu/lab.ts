// The lab of the GPU window: the adapters as WebGPU lists them.

import { openListedGpu } from '../../engine/backends/webgpu/adapter.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { createLabHost, type DeviceLab } from '../../engine/lab/host.ts';
import { storedChoices, surroundings } from './host.ts';

/** Bytes that arrays may take; the backend says if there is less. */
const memory = 2 ** 28;

export function createGpuLab(gpu: GPU | undefined): DeviceLab {
  return createLabHost({
    open: async ({ adapter = 0 }) => createWebgpuBackend(await openListedGpu(gpu, adapter), { tuning: storedChoices }),
    threads: () => 0,
    memory: () => memory,
    surroundings,
  });
}
