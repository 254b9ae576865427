// The declarations of all learners.

import type { LearnerName, RunConfig } from '../../protocol/runs.ts';
import type { Declaration } from './declaration.ts';
import { linear } from './linear.ts';
import { network } from './network.ts';

const declarations: Readonly<Record<LearnerName, Declaration>> = { network, linear };

/** What the learner of a run says of itself. */
export function declarationOf({ learner }: Pick<RunConfig, 'learner'>): Declaration {
  return declarations[learner];
}
