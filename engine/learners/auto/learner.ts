// Best of all as a learner: it trains the others on folds of its rows and keeps the mix of them that is best.

import { rowsOfSplit } from '../split-rows.ts';
import type { Learner, LearnerJob, Trained, Training } from '../learner.ts';
import { checkState, decodeState } from './checkpoint.ts';
import { countChosen } from '../declared/chosen-members.ts';
import type { AutoConfig } from './declaration.ts';
import type { AutoModelFile } from './file.ts';
import { outOfFoldOf } from './out-of-fold.ts';
import { PartRows } from './part-rows.ts';
import { modelsOf, readEnsemble } from './trained.ts';
import { AutoTraining } from './training.ts';

export const learner: Learner<AutoConfig, AutoModelFile> = {
  open: openAuto,
  read(file, tensors, others) {
    const outOfFold: Trained['outOfFold'] = (rows) => outOfFoldOf(file, modelsOf(file, tensors, others), rows);
    return { ...readEnsemble(file, tensors, others), outOfFold };
  },
  checkCheckpoint: checkState,
};

async function openAuto(job: LearnerJob<AutoConfig>): Promise<Training> {
  const { config, data, events } = job;
  const rows = await PartRows.read(job);
  const before = job.checkpoint ? decodeState(job.checkpoint) : null;
  events.onStarted({
    device: { kind: 'cpu', name: 'CPU', threads: 1 },
    sentence: `${countChosen(config.auto) > 0 ? 'The models that were chosen' : 'Models of every kind'} are trained on the CPU.`,
    parameters: 0,
    bytes: data.counts.train * data.width * 8,
    step: before ? Math.round(before.seconds * 10) : 0,
  });
  return new AutoTraining(job, { rows, testTargets: await testTargets(job) }, before);
}

async function testTargets(job: LearnerJob<AutoConfig>): Promise<Float32Array> {
  const { data, readShard } = rowsOfSplit(job, 'test');
  const targets = new Float32Array(data.counts.test);
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++)
    targets.set((await readShard(shard)).y, data.shardStarts[shard]);
  return targets;
}
