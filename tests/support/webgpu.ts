// The GPU of the tests: on Linux SwiftShader through Dawn, so that every machine gives the same answer; on other systems, where
// it cannot be chosen, and with TRAINYARD_TEST_GPU=hardware the GPU that is there. In CI there has to be one; elsewhere a test
// that lacks it is skipped, saying what is missing.

import fs from 'node:fs';
import path from 'node:path';
import { openGpu, type OpenedGpu } from '../../engine/backends/webgpu/adapter.ts';
import { openNodeGpu } from '../../engine/backends/webgpu/node.ts';

const hardware = process.platform !== 'linux' || process.env.TRAINYARD_TEST_GPU === 'hardware';
const prefer = hardware ? 'hardware' : 'software';

/** Opens a fresh device. */
export const testGpu = async (): Promise<OpenedGpu> => openGpu(await openNodeGpu({ prefer }));

/** False, or why tests that need a GPU are skipped. Throws in CI, where there is always one. */
export async function missingGpu(): Promise<false | string> {
  try {
    (await testGpu()).device.destroy();
    return false;
  } catch (error) {
    if (process.env.CI) throw error;
    const { message, hint } = error as { message?: string; hint?: string };
    return `no GPU for the tests: ${message} ${hint ?? ''}`;
  }
}

/** A fresh device that allocates as ever and compiles no program, so that a plan on it can be measured and not run. */
export async function gpuWithoutPrograms(): Promise<OpenedGpu> {
  const gpu = await testGpu();
  Object.defineProperty(gpu.device, 'createComputePipelineAsync', { value: async () => ({}) });
  return gpu;
}

/** How often a device was asked for something, by the name of the method. */
export type DeviceCounts = Record<'buffers' | 'bindGroups' | 'pipelines' | 'shaders' | 'submits', number>;

/** Counts what is made on a device and submitted to it from now on. */
export function countUse({ device }: OpenedGpu): DeviceCounts {
  const counts: DeviceCounts = { buffers: 0, bindGroups: 0, pipelines: 0, shaders: 0, submits: 0 };
  const count = <T extends object>(target: T, method: keyof T & string, what: keyof DeviceCounts): void => {
    const original = target[method] as (...args: unknown[]) => unknown;
    const counting = (...args: unknown[]): unknown => {
      counts[what]++;
      return original.apply(target, args);
    };
    Object.defineProperty(target, method, { value: counting, configurable: true });
  };
  count(device, 'createBuffer', 'buffers');
  count(device, 'createBindGroup', 'bindGroups');
  count(device, 'createComputePipeline', 'pipelines');
  count(device, 'createComputePipelineAsync', 'pipelines');
  count(device, 'createShaderModule', 'shaders');
  count(device.queue, 'submit', 'submits');
  return counts;
}

/** The driver of Mesa's llvmpipe, whose version 25 computes with `shader-f16`. */
const llvmpipe = (): string | undefined =>
  ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d']
    .flatMap((folder) => (fs.existsSync(folder) ? fs.readdirSync(folder).map((file) => path.join(folder, file)) : []))
    .find((file) => /lvp_icd.*\.json$/.test(file));

/**
 * Opens a fresh device that computes with 16-bit numbers; or why there is none. SwiftShader does not: with
 * TRAINYARD_TEST_GPU=hardware it is the GPU that is there, with =llvmpipe Mesa's processor in disguise, which takes minutes to compile
 * what it has not compiled before. Not for files that open another GPU: a process has one Vulkan loader.
 */
export async function gpuWithHalfArithmetic(): Promise<OpenedGpu | string> {
  const wanted = process.env.TRAINYARD_TEST_GPU;
  if (!hardware && wanted !== 'llvmpipe')
    return 'SwiftShader has no shader-f16: set TRAINYARD_TEST_GPU to hardware or llvmpipe';
  if (wanted === 'llvmpipe') {
    const driver = llvmpipe();
    if (driver === undefined) return 'llvmpipe, of Mesa 25 or newer, is not installed';
    process.env.VK_DRIVER_FILES = driver;
  }
  const opened = await openGpu(await openNodeGpu({ prefer: 'hardware' }));
  return opened.halfArithmetic ? opened : `${opened.name} does not compute with shader-f16`;
}
