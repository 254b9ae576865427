// Entry of the process that looks for GPUs (see gpu.ts): sends its parent one list of devices and ends.

import process from 'node:process';
import { listGpuAdapters } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';

void listGpus().then((found) => process.send?.(found, () => process.exit()));

async function listGpus(): Promise<readonly DeviceInfo[]> {
  const gpu = await openNodeGpu().catch(() => undefined);
  return gpu ? listGpuAdapters(gpu) : [];
}
