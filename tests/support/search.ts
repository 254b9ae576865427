// Searches in this process, on rows that lie in memory.

import { configWith } from '../../engine/learners/declared/registry.ts';
import type { LearnerJob } from '../../engine/learners/learner.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { declaration, searchFields, type SearchSettings } from '../../engine/learners/search/declaration.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { defaultsOf } from '../../engine/settings/values.ts';
import { partsJob } from './parts-job.ts';

const settings = { target: 'bought', task: 'classification' } as const;
const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings } as const;
const usual = { ...defaultsOf(searchFields, { rows: 160, task: 'classification' } as never), of: 'linear' } as const;

/** Searches the settings of a linear model. */
export async function searchLinear(
  own: Partial<SearchSettings>,
  job: Partial<LearnerJob> = {},
): Promise<{ readonly trials: readonly Trial[]; readonly result: RunResult }> {
  const trials = [...(job.trials ?? [])];
  const config = configWith(declaration, common, { ...usual, ...own });
  const onTrial = (trial: Trial): void => void trials.push(trial);
  const training = await learnerNamed('search').open({ ...partsJob(config, 2, { onTrial }), ...job });
  while (await training.advance(1_000)) continue;
  return { trials, result: training.result() };
}
