// What this machine's CPU is: for `devices`, for the history's device column and for choosing threads.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
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

/** Bytes that can be used now: what is free, within the limits set on the process. */
export function availableMemory(): number {
  return process.availableMemory?.() ?? os.freemem();
}

let cores: number | undefined;

/**
 * Cores worth a thread each: those the process may use, without the second hardware thread of a core (it adds nothing to
 * multiply-adds) and, on Apple silicon, without the efficiency cores (all threads get equal shares, so the slowest decides).
 */
export function usableCores(): number {
  cores ??= Math.max(1, Math.min(os.availableParallelism(), physicalCores() ?? Infinity));
  return cores;
}

/** Fast physical cores as the system tells, or null where it does not. */
function physicalCores(): number | null {
  try {
    if (process.platform === 'linux') return linuxCores();
    if (process.platform === 'darwin' && process.arch === 'arm64') {
      return Number(execFileSync('sysctl', ['-n', 'hw.perflevel0.physicalcpu'])) || null;
    }
  } catch {
    return null;
  }
  // Elsewhere x64 processors of four and more threads nearly always run two a core.
  const threads = os.cpus().length;
  return process.arch === 'x64' && threads >= 4 ? threads / 2 : null;
}

/** Groups of hardware threads that share a core. */
function linuxCores(): number | null {
  const folder = '/sys/devices/system/cpu';
  const siblings = readdirSync(folder)
    .filter((name) => /^cpu\d+$/.test(name))
    .map((name) => readFileSync(`${folder}/${name}/topology/thread_siblings_list`, 'utf8'));
  return new Set(siblings).size || null;
}
