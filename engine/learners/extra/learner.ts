// Extremely randomised trees as a learner.

import { forestLearner } from '../trees/forest-learner.ts';
import type { ExtraConfig } from './declaration.ts';

export const learner = forestLearner(
  { learner: 'extra', name: 'Extra trees', randomCuts: true },
  ({ extra }: ExtraConfig) => extra,
);
