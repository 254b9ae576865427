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

/** The same, in the parts that validate in turn where its learner asks for them. */
export function runRows(config: RunConfig): About & Pick<PrepareOptions, 'parts'> {
  return { ...trainedRows(config), parts: declarationOf(config).parts?.(config) };
}

/** For a check before the run: rows to validate on stay apart also where the run will train on them. */
export function checkedRows(config: RunConfig): ReturnType<typeof runRows> {
  const { joined: _, ...settings } = config.settings;
  return { ...runRows(config), settings };
}

/** The same rows with columns as they are, or pixels: for whoever looks at a model of any learner. */
export function rowsAsTheyAre(config: RunConfig): About {
  const texts = declarationOf(config).texts && ('as they are' as const);
  return { ...trainedRows(config), forms: ['columns', 'pixels'], texts };
}
