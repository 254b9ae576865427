// What this machine's CPU is: for `devices`, for the history's device column and for choosing threads.

import os from 'node:os';
import { availableMemory, usableCores } from '../../system/cores.ts';
import { findNative, loadNative } from './native.ts';

export interface CpuDescription {
  /** Model name as the system gives it. */
  readonly name: string;
  /** Cores worth a thread each, see `usableCores`. */
  readonly cores: number;
  /** Hardware threads this process may use. */
  readonly hardwareThreads: number;
  /** `SIMD` (WASM's 128 bits), and the addon's instruction set where it is in use: `SIMD + AVX-512`. */
  readonly instructions: string;
  /** Whether the native addon is in use. */
  readonly native: boolean;
  /** Bytes of physical memory, and bytes that can be used now. */
  readonly memory: number;
  readonly availableMemory: number;
}

export function describeCpu(): CpuDescription {
  const native = findNative();
  return {
    name: cpuName(),
    cores: usableCores(),
    hardwareThreads: os.availableParallelism(),
    instructions: instructionSets(native),
    native: native !== undefined,
    memory: os.totalmem(),
    availableMemory: availableMemory(),
  };
}

export function cpuName(): string {
  return os.cpus()[0]?.model.trim() || `${process.arch} CPU`;
}

/** `SIMD`, or with the addon at `native` its instruction set as well. */
export function instructionSets(native: string | undefined): string {
  return native === undefined ? 'SIMD' : `SIMD + ${loadNative(native).instructions}`;
}
