// Random forests as a learner.

import { forestLearner } from '../trees/forest-learner.ts';
import type { ForestConfig } from './declaration.ts';

export const learner = forestLearner(
  { learner: 'forest', name: 'Random forest', randomCuts: false },
  ({ forest }: ForestConfig) => forest,
);
