// The scores of an evaluation as one table: words, which way is better, how a value is written.

import type { ScoreName } from '../protocol/evaluated-rows.ts';

export type ScoreUnit = 'plain' | 'share' | 'target';

interface ScoreDefinition {
  readonly words: string;
  readonly better: 'lower' | 'higher' | 'near 0';
  /** `target`: in the unit of what is predicted. */
  readonly unit: ScoreUnit;
  readonly explanation: string;
}

export const scoreNames = {
  roc_auc: {
    words: 'ROC area',
    better: 'higher',
    unit: 'plain',
    explanation:
      'How often a row of the class gets a higher probability than one of the others; the mean over the classes',
  },
  pr_auc: {
    words: 'PR area',
    better: 'higher',
    unit: 'plain',
    explanation: 'Average precision over all shares of the class found; the mean over the classes',
  },
  log_loss: {
    words: 'Log loss',
    better: 'lower',
    unit: 'plain',
    explanation: 'Mean of −ln of the probability of what is so',
  },
  brier: {
    words: 'Brier score',
    better: 'lower',
    unit: 'plain',
    explanation: 'Mean squared distance of the probabilities from what is so',
  },
  ece: {
    words: 'Calibration error',
    better: 'lower',
    unit: 'plain',
    explanation: 'How far probabilities are from how often it was so, on average over ten bins',
  },
  balanced_accuracy: {
    words: 'Balanced acc.',
    better: 'higher',
    unit: 'plain',
    explanation: 'Mean share found of each class',
  },
  accuracy: { words: 'Accuracy', better: 'higher', unit: 'plain', explanation: 'Share of the rows that are right' },
  f1: {
    words: 'F1 (macro)',
    better: 'higher',
    unit: 'plain',
    explanation: 'Harmonic mean of precision and recall; of more than two classes the mean over those that occur',
  },
  rmse: { words: 'Root mean square', better: 'lower', unit: 'target', explanation: 'Root of the mean squared error' },
  mae: { words: 'Mean absolute', better: 'lower', unit: 'target', explanation: 'Mean of how far off it is' },
  mape: {
    words: 'Mean absolute, %',
    better: 'lower',
    unit: 'share',
    explanation: 'Mean of how far off it is, as a share of the true value',
  },
  within: {
    words: 'Within 10 %',
    better: 'higher',
    unit: 'share',
    explanation: 'Share of the rows that are off by less',
  },
  r2: { words: 'R²', better: 'higher', unit: 'plain', explanation: 'Share of the variance that is explained' },
  bias: {
    words: 'Mean error',
    better: 'near 0',
    unit: 'target',
    explanation: 'Mean of predicted − true: above 0 = too high',
  },
} as const satisfies Readonly<Record<ScoreName, ScoreDefinition>>;

/** The words of a score. F1 of two classes is that of the second, which is looked for, and says so; training's is the mean over both. */
export const scoreWords = (name: ScoreName, classes: readonly string[] | null): string =>
  name === 'f1' && classes?.length === 2 ? `F1 of “${classes[1]}”` : scoreNames[name].words;
