// The GPU for the command line: WebGPU by Dawn, from the optional `webgpu` package.

import path from 'node:path';
import type { Backend } from '../../engine/backends/backend.ts';
import { listGpuAdapters, openGpu } from '../../engine/backends/webgpu/adapter.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { hasGpuDriver } from '../../engine/backends/webgpu/node.driver.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';
import { fileTuning } from '../../engine/backends/webgpu/node.tuning.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';
import { homeFolder } from './home.ts';

/** Throws TrainyardError `device.no_adapter` (or what `openNodeGpu` throws) when there is no GPU to use. */
export async function openGpuBackend(): Promise<Backend> {
  const tuning = fileTuning(path.join(homeFolder(), 'gpu-tuning.json'));
  return createWebgpuBackend(await openGpu(await openNodeGpu()), { tuning });
}

/** Name of the first GPU that is one; null where there is none, or only a software adapter. */
export async function hardwareGpu(): Promise<string | null> {
  if (!hasGpuDriver()) return null;
  const found = (await listGpus()).find((device) => device.available && !device.software);
  return found?.name ?? null;
}

/** The adapters WebGPU sees; empty without the optional package. */
export async function listGpus(): Promise<readonly DeviceInfo[]> {
  const gpu = await openNodeGpu().catch(() => undefined);
  return gpu ? listGpuAdapters(gpu) : [];
}
