// Whether a file is a checkpoint that a learner can go on from.

import type { LearnerName } from '../protocol/runs.ts';
import { checkCheckpoint } from '../train/checkpoint.ts';
import { checkSearch } from './linear/checkpoint.ts';

const checks: Readonly<Record<LearnerName, (file: Uint8Array) => void>> = {
  network: checkCheckpoint,
  linear: checkSearch,
};

/** Throws TrainyardError `run.checkpoint` or `data.safetensors` when it is none, or a damaged one. */
export function checkCheckpointOf(learner: LearnerName, file: Uint8Array): void {
  checks[learner](file);
}
