// What a trainer needs of its surroundings, as Node has it: for the CPU host and the command line.

import os from 'node:os';
import type { Surroundings } from '../../engine/train/control.ts';

export const nodeSurroundings: Surroundings = {
  clock: () => performance.now(),
  now: () => Date.now(),
  breathe: () => new Promise((resolve) => setImmediate(resolve)),
  used: () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    return { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: 1024 * maxRSS };
  },
};

/** `--home=FOLDER` of this process. */
export function homeArgument(): string {
  return process.argv.find((argument) => argument.startsWith('--home='))?.slice('--home='.length) ?? '';
}

/** Pauses of a self-test: long enough for threads to fall asleep. */
export const nodeRest = {
  rest: (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1)),
  clock: (): number => performance.now(),
};

/** Bytes the rows of a run may take in memory: a quarter of it, and what WASM can address. */
export function residentBudget(): number {
  return Math.min(os.totalmem() / 4, 2 ** 31);
}
