// What is asked of the data service for a run: its own settings, and what its learner makes of rows.

import type { PrepareOptions } from '../../protocol/data.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import { declarationOf } from './registry.ts';

type About = Pick<PrepareOptions, 'settings' | 'seed' | 'forms' | 'texts' | 'learner'>;

/** The rows that its learner trains on. */
export function trainedRows(config: RunConfig): About {
  const { forms, texts, noun: learner } = declarationOf(config);
  return { settings: config.settings, seed: config.seed, forms, texts, learner };
}

/** The same rows with columns as they are, or pixels: for whoever looks at a model of any learner. */
export function rowsAsTheyAre(config: RunConfig): About {
  const texts = declarationOf(config).texts && ('as they are' as const);
  return { ...trainedRows(config), forms: ['columns', 'pixels'], texts };
}
