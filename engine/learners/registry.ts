// All learners by name.

import type { LearnerName } from '../protocol/runs.ts';
import type { Learner } from './learner.ts';
import { linear } from './linear/learner.ts';
import { network } from './network/learner.ts';

const learners: Readonly<Record<LearnerName, Learner>> = { network, linear };

export function learnerNamed(name: LearnerName): Learner {
  return learners[name];
}
