// All learners by name.

import { TrainyardError } from '../protocol/errors.ts';
import { ownValue } from '../protocol/own.ts';
import { checkSafetensors } from '../train/safetensors.ts';
import type { Learner } from './learner.ts';
import { learners } from './list.ts';

/** Throws TrainyardError `run.learner` where there is none of that name. */
export function learnerNamed(name: string): Learner {
  const found = ownValue(learners, name);
  if (found) return found;
  throw new TrainyardError('run.learner', `This version has no learner “${name}”.`, 'Update Trainyard.');
}

/** Throws TrainyardError `run.checkpoint` or `data.safetensors` when a learner cannot go on from a file. */
export function checkCheckpointOf(name: string, file: Uint8Array): void {
  const { checkCheckpoint = checkSafetensors } = learnerNamed(name);
  checkCheckpoint(file);
}
