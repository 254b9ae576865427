// A search as a learner: trials of one other learner on the same parts of the rows. What it keeps is an ensemble of one member, the best trial.

import { PartRows } from '../auto/part-rows.ts';
import { checkState, decodeState } from '../auto/checkpoint.ts';
import type { AutoModelFile } from '../auto/file.ts';
import { learner as auto } from '../auto/learner.ts';
import type { Learner, LearnerJob, Training } from '../learner.ts';
import { spaceOf, type SearchConfig } from './declaration.ts';
import { SearchTraining } from './training.ts';

export const learner: Learner<SearchConfig, AutoModelFile> = {
  open: openSearch,
  read: auto.read,
  checkCheckpoint: checkState,
};

async function openSearch(job: LearnerJob<SearchConfig>): Promise<Training> {
  const { data, events, config, trials = [] } = job;
  const space = spaceOf(config.search);
  const rows = await PartRows.read(job);
  const before = job.checkpoint ? decodeState(job.checkpoint) : null;
  events.onStarted({
    device: { kind: 'cpu', name: 'CPU', threads: 1 },
    sentence: 'Trials are trained one after the other on the CPU, in one process.',
    parameters: 0,
    bytes: data.counts.train * data.width * 8,
    step: trials.length,
  });
  return new SearchTraining(job, rows, space, before);
}
