// The settings of the learner `linear`: ridge regression, or logistic regression of two or more classes.

import type { Task } from './dataset.ts';
import { fieldsFor, type SettingsOf } from './field.ts';
import { defaultsOf } from './values.ts';

/** What its settings depend on. */
export interface FittedTo {
  readonly task: Task;
}

export const linearFields = fieldsFor<FittedTo>()({
  // Times half the sum of the squared weights, beside the sum of the rows' losses; for numbers times that sum, beside the sum
  // of squares: scikit-learn's `alpha` of Ridge and 1/C of LogisticRegression.
  penalty: {
    kind: 'number',
    label: 'Penalty',
    zero: 'the best found',
    help: 'penalty of a linear model on large weights, as alpha of scikit-learn, 1/C; 0 = the one that validates best',
    minimum: 0,
    maximum: 1e9,
    default: 0,
  },
  classWeights: {
    kind: 'choice',
    label: 'Class weights',
    help: 'weigh rare classes up',
    choices: { none: 'None', balanced: 'Balanced' },
    quiet: 'none',
    fits: ({ task }) => task === 'classification',
    default: 'none',
  },
});

export type LinearSettings = SettingsOf<typeof linearFields>;

/** The settings to start from, whatever the data. */
export const usualLinear: LinearSettings = defaultsOf(linearFields, { task: 'classification' } satisfies FittedTo);
