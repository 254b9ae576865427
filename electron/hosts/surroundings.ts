// What a trainer needs of its surroundings, as Node has it: for the CPU host and the command line.

import os from 'node:os';
import type { Surroundings } from '../../engine/train/control.ts';

export const nodeSurroundings: Surroundings = {
  clock: () => performance.now(),
  now: () => Date.now(),
  breathe: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Bytes the rows of a run may take in memory: a quarter of it, and what WASM can address. */
export function residentBudget(): number {
  return Math.min(os.totalmem() / 4, 2 ** 31);
}
