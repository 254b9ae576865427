// What this machine has for a program: threads that are worth computing with, and memory.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import process from 'node:process';

let cores: number | undefined;

/**
 * Cores worth a thread each: those the process may use, without the second hardware thread of a core (it adds nothing to
 * multiply-adds) and, on Apple silicon, without the efficiency cores (all threads get equal shares, so the slowest decides).
 */
export function usableCores(): number {
  cores ??= Math.max(1, Math.min(os.availableParallelism(), physicalCores() ?? Infinity));
  return cores;
}

/** Bytes that can be used now: what is free, within the limits set on the process. */
export function availableMemory(): number {
  return process.availableMemory?.() ?? os.freemem();
}

/** What runs may share. */
export const machineHere = (): { readonly cores: number; readonly available: () => number } => ({
  cores: usableCores(),
  available: availableMemory,
});

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
