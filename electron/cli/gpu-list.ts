// Entry of the process that looks for GPUs (see gpu.ts): sends its parent one list of devices and ends.

import process from 'node:process';
import { listGpuAdapters } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';

const gpu = await openNodeGpu().catch(() => undefined);
const found = gpu ? await listGpuAdapters(gpu) : [];
process.send?.(found, () => process.exit());
