// The GPU for the command line: WebGPU by Dawn, from the optional `webgpu` package.

import { fork } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import type { Backend } from '../../engine/backends/backend.ts';
import {
  defaultAdapter,
  identityKey,
  nameOf,
  openGpu,
  openListedGpu,
  type OpenedGpu,
} from '../../engine/backends/webgpu/adapter.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { hasGpuDriver } from '../../engine/backends/webgpu/node.driver.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';
import { fileTuning } from '../../engine/backends/webgpu/node.tuning.ts';
import type { DeviceInfo } from '../../engine/protocol/app.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { openTrusted, type TrustOptions } from '../../engine/train/trust.ts';
import { nodeRest } from '../hosts/surroundings.ts';
import { homeFolder } from '../../engine/system/home-folder.ts';

/** How long the drivers may take to say which GPUs there are. */
const listMilliseconds = 30_000;

/**
 * Opens the GPU once it has passed the self-test. Throws TrainyardError `device.self_test` if it does not, `device.no_adapter`
 * (or what `openNodeGpu` throws) when there is no GPU to use.
 */
export async function openGpuBackend(): Promise<Backend> {
  return openTrusted(await gpuTrust());
}

/** The GPU as the self-test sees it. */
export async function gpuTrust(): Promise<TrustOptions> {
  const gpu = await findGpu();
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

/** The GPU as it is, for timing it. Throws as `openGpuBackend`, the self-test apart. */
export async function openFirstGpu(): Promise<OpenedGpu> {
  return openGpu(await findGpu());
}

/** One of the GPUs of `listGpus`, for measuring it. Throws as `openFirstGpu`. */
export async function openListedGpuBackend(place: number): Promise<Backend> {
  const tuning = fileTuning(path.join(homeFolder(), 'gpu-tuning.json'));
  return createWebgpuBackend(await openListedGpu(await findGpu(), place), { tuning });
}

/** Name of the first GPU that is one; null where there is none, or only a software adapter. */
export async function hardwareGpu(): Promise<string | null> {
  if (gpuIsOfWindow || !hasGpuDriver()) return null;
  const found = (await listGpus()).find((device) => device.available && !device.software);
  return found?.name ?? null;
}

/**
 * The adapters WebGPU sees; empty without the optional package. A process of its own looks for them: drivers write to
 * standard error what they please, and some do not survive being asked.
 */
export async function listGpus(): Promise<readonly DeviceInfo[]> {
  if (!mayHaveGpu()) return [];
  const child = fork(new URL('./gpu-list.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    timeout: listMilliseconds,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    child.once('message', (found) => resolve(found as readonly DeviceInfo[]));
    child.once('error', () => resolve([]));
    child.once('exit', () => resolve([]));
  });
}

/** Whether this is the installed program's command line: it carries no WebGPU for Node, the window has Chromium's. */
export const gpuIsOfWindow = process.versions['electron'] !== undefined;

/** Undefined where there is no driver: Dawn would say so on standard error, in its own words. */
async function findGpu(): Promise<GPU | undefined> {
  if (gpuIsOfWindow) {
    throw new TrainyardError(
      'device.no_webgpu',
      'The installed command line computes on the CPU alone: the GPU belongs to the window.',
      'Train on the GPU in the window, or with --device cpu here.',
    );
  }
  return mayHaveGpu() ? openNodeGpu() : undefined;
}

const mayHaveGpu = (): boolean => !gpuIsOfWindow && (hasGpuDriver() || Boolean(process.env.TRAINYARD_SWIFTSHADER));
