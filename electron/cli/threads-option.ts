// The flag `--threads` of `train` and `bench`.

import os from 'node:os';
import { runFields } from '../../engine/settings/run.ts';
import type { OptionValues } from './command.ts';
import type { Output } from './output.ts';
import { chosenByFlags } from './setting-flags.ts';

/** Threads asked for, 0 = as many as pay. More than there are cores wait for each other, a hundred times slower: capped. */
export function threadsOption(options: OptionValues, output: Output): number {
  const asked = chosenByFlags(runFields, options).threads ?? 0;
  const most = os.availableParallelism();
  if (asked <= most) return asked;
  output.note(
    `! --threads is ${asked}; this machine has ${most} ${most === 1 ? 'core' : 'cores'}, so it is ${most} now.`,
  );
  return most;
}
