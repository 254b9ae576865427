// The best trials of a search as one ensemble: their settings are the members of a best of all (engine/learners/auto/), which trains them on
// the same parts of the rows, weighs them by what they say of rows they did not learn from, and opens the test split at last.

import { InputError } from '../../protocol/errors.ts';
import type { Trial } from '../../protocol/search.ts';
import { autoFields, type AutoConfig } from '../auto/declaration.ts';
import { mostChosen } from './chosen-members.ts';
import { spaceOf, type SearchConfig } from '../search/declaration.ts';

/** Trials that may be members, the best first: those that had all their folds, of the same settings the first one. */
export function ensembleTrials(trials: readonly Trial[], most = mostChosen): readonly Trial[] {
  const bySettings = new Map<string, Trial>();
  for (const trial of trials) {
    const key = JSON.stringify(trial.settings);
    if (trial.state === 'completed' && trial.reached >= 1 && !bySettings.has(key)) bySettings.set(key, trial);
  }
  return [...bySettings.values()].sort((one, other) => one.score! - other.score!).slice(0, most);
}

/** Settings of a run that makes an ensemble of the best `count` trials, or of as many as there are. Throws InputError `input.search`. */
export function ensembleConfig(config: SearchConfig, trials: readonly Trial[], count: number): AutoConfig {
  const best = ensembleTrials(trials, count);
  if (best.length < 2) {
    throw new InputError(
      'input.search',
      'An ensemble is of two trials at least: of those that were completed with settings of their own there are fewer.',
      'Let the search go on, or train its best trial as a run.',
    );
  }
  const { search, learner: _, until: __, ...common } = config;
  const { fixed } = spaceOf(search);
  const members = best.map(({ trial, settings }) => ({
    title: `Trial ${trial}`,
    learner: search.of,
    settings: { ...fixed, ...settings },
  }));
  // What they took in the search is what is expected of them: all are trained to their end.
  const minutes = best.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const auto = {
    minutes: Math.min(autoFields.minutes.maximum, Math.max(autoFields.minutes.minimum, minutes)),
    curve: false,
    parts: search.parts,
    members: JSON.stringify(members),
  };
  return { ...common, device: 'cpu', learner: 'auto', auto };
}

/** What such a run is called. */
export const ensembleName = (search: string, count: number): string => `${search}, best ${count}`;
