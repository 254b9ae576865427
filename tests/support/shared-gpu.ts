// One GPU for all tests of a file. In software a kernel takes longer to compile than to run, and a backend compiles each once:
// trainings that are compared, or go on from one another, share most of theirs.

import { after } from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { testGpu } from './webgpu.ts';

let shared: Promise<Backend> | null = null;

/** The backend, opened the first time; that it is closed counts for nothing until the file's tests are done. */
export async function sharedGpu(): Promise<Backend> {
  shared ??= testGpu().then((gpu) => createWebgpuBackend(gpu));
  return { ...(await shared), close: async () => undefined };
}

after(async () => (await shared)?.close());
