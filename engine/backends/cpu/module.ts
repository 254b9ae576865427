// The compiled kernels: one .wasm file, made by scripts/build-kernels.ts, that also carries the names of its kernels.

import { readFileSync } from 'node:fs';
import { TrainyardError } from '../../protocol/errors.ts';

/** Kernels ready to be instantiated on any thread. */
export interface KernelModule {
  readonly module: WebAssembly.Module;
  /** Kernel names by their numbers in call records. */
  readonly names: readonly string[];
}

/** What the module exports (engine/backends/cpu/assembly/interpreter.ts). Addresses are bytes. */
export interface KernelExports {
  staticEnd(): number;
  setUp(scratch: number, scratchBytes: number, sleepSlices: number, winograd: number): void;
  submit(program: number, threads: number, firstStep: number, steps: number): number;
  serve(thread: number, threads: number): number;
}

const loaded = new Map<string, KernelModule>();

/**
 * Compiles the kernels from a file or from its bytes. Files are compiled once a process.
 * @throws TrainyardError `device.kernels_missing` if the file cannot be read or compiled.
 */
export function loadKernels(wasm: Uint8Array | URL | string = defaultWasm()): KernelModule {
  if (wasm instanceof Uint8Array) return compileKernels(wasm);
  const key = String(wasm);
  let kernels = loaded.get(key);
  if (!kernels) {
    kernels = compileKernels(readKernels(wasm));
    loaded.set(key, kernels);
  }
  return kernels;
}

/** Where the build puts the kernels. */
export function defaultWasm(): URL {
  return new URL('../../../build/kernels/kernels.wasm', import.meta.url);
}

function readKernels(file: URL | string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TrainyardError(
      'device.kernels_missing',
      `The compiled CPU kernels are not at ${String(file)}.`,
      'Run `npm run -s setup`, or `node scripts/build-kernels.ts` in a checkout.',
      { cause },
    );
  }
}

function compileKernels(bytes: Uint8Array): KernelModule {
  try {
    const module = new WebAssembly.Module(bytes);
    const [section] = WebAssembly.Module.customSections(module, 'kernels');
    const names = JSON.parse(new TextDecoder().decode(section)) as string[];
    return { module, names };
  } catch (cause) {
    throw new TrainyardError(
      'device.kernels_missing',
      'The compiled CPU kernels cannot be loaded on this machine: they need WebAssembly with threads and relaxed SIMD.',
      'Use Node 22 or newer, and build the kernels again with `node scripts/build-kernels.ts`.',
      { cause },
    );
  }
}
