// WebGPU in Node, through the optional package `webgpu` (Dawn). Looks for what Dawn needs on Linux: the Vulkan loader, which
// minimal systems lack, and a driver. SwiftShader's driver, which every Electron carries beside a loader, serves for tests.

import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import type * as Dawn from 'webgpu';
import { TrainyardError } from '../../protocol/errors.ts';
import { askPatiently } from './node.polling.ts';

export interface NodeGpuOptions {
  /**
   * `hardware` (default): the system's drivers, SwiftShader only where TRAINYARD_SWIFTSHADER names its folder.
   * `software`: SwiftShader, wherever it is found.
   */
  readonly prefer?: 'hardware' | 'software';
  /** Folder of SwiftShader (`vk_swiftshader_icd.json`, `libvulkan.so.1`) instead of the search. */
  readonly swiftshader?: string;
}

/**
 * SwiftShader writes zeros into workgroup memory one instruction a word where it is asked to by the Vulkan extension, which
 * makes compiling a kernel up to ten times slower; Dawn can emit a loop instead.
 */
const softwareFlags = ['disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension'];
const driverFile = 'vk_swiftshader_icd.json';
const loaderFile = 'libvulkan.so.1';

/**
 * Dawn's entry point, the counterpart of `navigator.gpu`. Whether it has an adapter shows when one is asked for.
 * Throws `device.no_webgpu` where the package or the Vulkan loader is missing.
 */
export async function openNodeGpu(options: NodeGpuOptions = {}): Promise<GPU> {
  const swiftshader = swiftshaderFolder(options);
  if (options.prefer === 'software' && !swiftshader) {
    throw new TrainyardError(
      'device.no_webgpu',
      'SwiftShader, the software GPU for tests, was not found.',
      `Run npm run setup, which brings an Electron with it, or set TRAINYARD_SWIFTSHADER to a folder with ${driverFile}.`,
    );
  }
  const forced = options.prefer === 'software' || options.swiftshader || process.env.TRAINYARD_SWIFTSHADER;
  if (process.platform === 'linux') {
    requireVulkanLoader(swiftshader);
    if (forced && swiftshader) process.env.VK_ICD_FILENAMES = path.join(swiftshader, driverFile);
  }
  const { create } = await importDawn();
  const gpu = askPatiently(create(forced ? softwareFlags : []), Boolean(forced));
  // Dawn frees everything when its entry point is collected, though devices are still in use.
  alive.push(gpu);
  return gpu;
}

/** Entry points in use: kept until the process ends. */
const alive: GPU[] = [];

/** The folder with SwiftShader's driver, if there is one. */
export function swiftshaderFolder(options: NodeGpuOptions = {}): string | undefined {
  const installed = ancestors(import.meta.dirname).flatMap((folder) => {
    const cache = path.join(folder, 'node_modules/.cache/trainyard');
    const cached = fs.existsSync(cache) ? fs.readdirSync(cache).map((entry) => path.join(cache, entry)) : [];
    return [path.join(folder, 'node_modules/electron/dist'), ...cached];
  });
  // Last, beside an Electron that runs this as plain Node.
  const candidates = [
    options.swiftshader ?? process.env.TRAINYARD_SWIFTSHADER,
    ...installed,
    path.dirname(process.execPath),
  ];
  return candidates.find((folder) => folder !== undefined && fs.existsSync(path.join(folder, driverFile)));
}

/** A folder and those above it: this file may be run from its place or from a bundle. */
function ancestors(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

async function importDawn(): Promise<typeof Dawn> {
  try {
    return await import('webgpu');
  } catch (cause) {
    throw new TrainyardError(
      'device.no_webgpu',
      'The package “webgpu”, which talks to the GPU outside of the app, is not installed or does not run here.',
      'Install it with npm install --include=optional, or train on the CPU.',
      { cause },
    );
  }
}

/** Sees to it that a Vulkan loader is in the process, the system's or else the one beside SwiftShader. */
function requireVulkanLoader(swiftshader: string | undefined): void {
  const beside = swiftshader && path.join(swiftshader, loaderFile);
  if (keepLoaded(loaderFile) || (beside && keepLoaded(beside))) return;
  throw new TrainyardError(
    'device.no_webgpu',
    `No Vulkan loader (${loaderFile}) was found, so no GPU can be reached.`,
    'Install it (Debian and Ubuntu: apt install libvulkan1, and the driver of your GPU), or train on the CPU.',
  );
}

/**
 * Loads a shared library for good. Node can only load its own addons and says so of any other library, but by then the
 * system has opened it; RTLD_NODELETE keeps it, and Dawn then finds it by its name.
 */
function keepLoaded(library: string): boolean {
  const keep = 0x1000;
  try {
    process.dlopen({ exports: {} }, library, os.constants.dlopen.RTLD_NOW | os.constants.dlopen.RTLD_GLOBAL | keep);
    return true;
  } catch (error) {
    return error instanceof Error && error.message.includes('did not self-register');
  }
}
