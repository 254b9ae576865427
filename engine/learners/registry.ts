// All learners by name.

import { checkSafetensors } from '../train/safetensors.ts';
import { named } from './declared/registry.ts';
import type { Learner } from './learner.ts';
import { learners } from './list.ts';

/** Throws TrainyardError `run.learner` where there is none of that name. */
export function learnerNamed(name: string): Learner {
  return named(learners, name);
}

/** Throws TrainyardError `run.checkpoint` or `data.safetensors` when a learner cannot go on from a file. */
export function checkCheckpointOf(name: string, file: Uint8Array): void {
  const { checkCheckpoint = checkSafetensors } = learnerNamed(name);
  checkCheckpoint(file);
}
