// A search as a learner: trials of one other learner on the same parts of the rows. What it keeps is an ensemble of one member, the best trial.

import { PartRows } from '../auto/part-rows.ts';
import { checkState, decodeState } from '../auto/checkpoint.ts';
import type { AutoModelFile } from '../auto/file.ts';
import { learner as auto } from '../auto/learner.ts';
import type { Learner, LearnerJob, Training } from '../learner.ts';
import { InputError } from '../../protocol/errors.ts';
import { Crew, threadsOfEach } from './crew.ts';
import { spaceOf, type SearchConfig } from './declaration.ts';
import { SearchTraining } from './training.ts';
import { connectTrials } from './trial-partner.ts';

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
  const { parallel } = config.search;
  const together = parallel > 1 && job.trialThread !== undefined;
  const bytes = data.counts.train * data.width * 8 * (together ? 1 + parallel : 1);
  if (bytes > job.dataBudget) {
    throw new InputError(
      'input.too_large',
      `The rows do not fit into memory for ${parallel} trials at a time.`,
      'Take fewer at a time.',
    );
  }
  const each = threadsOfEach(config.threads, parallel);
  events.onStarted({
    device: { kind: 'cpu', name: 'CPU', threads: together ? parallel * each : 1 },
    sentence: together
      ? `Trials are trained ${parallel} at a time on the CPU, each in a thread of its own; which of them decide the next follows from their numbers.`
      : 'Trials are trained one after the other on the CPU, in one process.',
    parameters: 0,
    bytes,
    step: trials.length,
  });
  return new SearchTraining(job, rows, space, before, together ? await crewOf(job, parallel, each) : null);
}

/** So many partners of so many threads, which have the rows. */
async function crewOf(job: LearnerJob<SearchConfig>, count: number, threads: number): Promise<Crew> {
  const { config, data, dataBudget, readShard, trialThread } = job;
  const shards = await Promise.all([...data.shardStarts.slice(1).keys()].map((shard) => readShard(shard)));
  const partners = Array.from({ length: count }, () => connectTrials(trialThread!(threads)));
  try {
    await Promise.all(partners.map((partner) => partner.open({ config, data, shards, dataBudget })));
  } catch (error) {
    for (const partner of partners) partner.close();
    throw error;
  }
  return new Crew(partners);
}
