// Ready-made spaces, by learner: the few settings that matter for a table, in the ranges where good values are found, and what stays fixed
// beside them. Ranges of boosting after Grinsztajn, Oyallon and Varoquaux (NeurIPS 2022) and LightGBM's own advice.

import { InputError } from '../protocol/errors.ts';
import type { Asked } from './read-space.ts';

/** Learners that a search may be of. */
export const searched = ['boosted', 'network', 'linear', 'forest', 'extra'] as const;
export type Searched = (typeof searched)[number];

const ofForest: Asked = {
  trees: 100,
  minRows: { kind: 'integer', low: 1, high: 30, log: true },
  nodeFraction: { kind: 'float', low: 0.1, high: 1 },
  depth: { kind: 'choice', values: [0, 6, 10, 16] },
};

const spaces: Readonly<Record<Searched, Asked>> = {
  boosted: {
    patience: 50,
    learningRate: { kind: 'float', low: 0.01, high: 0.3, log: true },
    leaves: { kind: 'integer', low: 4, high: 128, log: true },
    minRows: { kind: 'integer', low: 1, high: 100, log: true },
    featureFraction: { kind: 'float', low: 0.4, high: 1 },
    rowFraction: { kind: 'float', low: 0.5, high: 1 },
    l2: { kind: 'float', low: 1e-3, high: 100, log: true },
  },
  network: {
    'optimizer.name': 'adamw',
    'optimizer.learningRate': { kind: 'float', low: 1e-4, high: 3e-2, log: true },
    'optimizer.weightDecay': { kind: 'float', low: 1e-6, high: 0.3, log: true },
    batch: { kind: 'choice', values: [16, 32, 64, 128, 256] },
    'model.depth': { kind: 'integer', low: 1, high: 4 },
    'model.width': { kind: 'integer', low: 16, high: 256, log: true },
    'model.dropout': { kind: 'float', low: 0, high: 0.5 },
  },
  linear: { penalty: { kind: 'float', low: 1e-4, high: 1e4, log: true } },
  forest: ofForest,
  extra: ofForest,
};

/** Throws InputError where no learner of that name can be searched. */
export function readySpace(learner: string): Asked {
  const found = searched.find((name) => name === learner);
  if (found !== undefined) return spaces[found];
  throw new InputError('input.space', `There is no search of ${learner}.`, `Learners: ${searched.join(', ')}.`);
}
