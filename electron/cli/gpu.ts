// The GPU for the command line: WebGPU by Dawn, from the optional `webgpu` package.

import path from 'node:path';
import type { Backend } from '../../engine/backends/backend.ts';
import { defaultAdapter, identityKey, listGpuAdapters, nameOf, openGpu } from '../../engine/backends/webgpu/adapter.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { hasGpuDriver } from '../../engine/backends/webgpu/node.driver.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';
import { fileTuning } from '../../engine/backends/webgpu/node.tuning.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';
import { openTrusted, type TrustOptions } from '../../engine/train/trust.ts';
import { nodeRest } from '../hosts/surroundings.ts';
import { homeFolder } from './home.ts';

/**
 * Opens the GPU once it has passed the self-test. Throws TrainyardError `device.self_test` if it does not, `device.no_adapter`
 * (or what `openNodeGpu` throws) when there is no GPU to use.
 */
export async function openGpuBackend(): Promise<Backend> {
  return openTrusted(await gpuTrust());
}

/** The GPU as the self-test sees it. */
export async function gpuTrust(): Promise<TrustOptions> {
  const gpu = await openNodeGpu();
  const identity = await defaultAdapter(gpu);
  const tuning = fileTuning(path.join(homeFolder(), 'gpu-tuning.json'));
  const open = async (): Promise<Backend> => createWebgpuBackend(await openGpu(gpu), { tuning });
  return {
    device: `GPU (${nameOf(identity)})`,
    rungs: [{ name: 'WebGPU', open }],
    key: `Dawn under Node ${process.versions.node} | ${identityKey(identity)}`,
    store: fileTuning(path.join(homeFolder(), 'self-test.json')),
    ...nodeRest,
  };
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
