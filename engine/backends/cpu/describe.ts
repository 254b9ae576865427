// What this machine's CPU is: for `devices`, for the history's device column and for choosing threads.

import os from 'node:os';
import { findNative, loadNative } from './native.ts';

export interface CpuDescription {
  /** Model name as the system gives it. */
  readonly name: string;
  /** Logical cores this process may use. */
  readonly cores: number;
  /** `SIMD` (WASM's 128 bits), or the addon's instruction set as well. */
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
    cores: physicalCores(),
    instructions:
      native === undefined ? instructionSets() : `${instructionSets()} + ${loadNative(native).instructions}`,
    native: native !== undefined,
    memory: os.totalmem(),
    availableMemory: availableMemory(),
  };
}

export function cpuName(): string {
  return os.cpus()[0]?.model.trim() || `${process.arch} CPU`;
}

/** Logical cores the system lets this process use. */
export function physicalCores(): number {
  return Math.max(1, os.availableParallelism());
}

export function instructionSets(): string {
  return 'SIMD';
}

/** Bytes that can be used now: what is free, within the limits set on the process. */
export function availableMemory(): number {
  return process.availableMemory?.() ?? os.freemem();
}
