// A short training of any learner, on rows in memory: what a check asks of one that brings no trial of its own. It is stopped when its time
// is over, as a person would, and put to use with what it has kept.

import { NotDone, type Examination, type Pace, type SampledRows, type Trial } from '../doctor/check.ts';
import type { RunFile, WrittenFile } from '../protocol/runs.ts';
import { RunControl, type Surroundings } from '../train/control.ts';
import { decodeText } from '../train/safetensors.ts';
import type { Examined, Learner } from './learner.ts';
import { otherLearners, readTrained } from './predict.ts';

/** Milliseconds between two looks at the clock. */
const slice = 50;
/** Milliseconds of one that is given steps instead of a time, or has no model yet. */
const most = 5_000;

/** Only what is asked of every learner. */
export function trialAlone(learner: Learner, job: Examined, surroundings: Surroundings): Examination {
  return { checks: [], trial: (rows, limit, pace) => tryShortly(learner, job, surroundings, rows, limit, pace) };
}

async function tryShortly(
  learner: Learner,
  { config, backend }: Examined,
  surroundings: Surroundings,
  { data, shard }: SampledRows,
  limit: Parameters<Examination['trial']>[1],
  pace: Pace,
): Promise<Trial> {
  const rows = { data, readShard: async () => shard, dataBudget: Infinity, backend };
  const control = new RunControl();
  const files = new Map<RunFile, Uint8Array>();
  const losses: number[] = [];
  const events = {
    onStarted: () => undefined,
    onLog: () => undefined,
    onPaused: () => undefined,
    onFile: ({ file, data: bytes, together = {} }: WrittenFile) => {
      for (const [name, own] of Object.entries({ ...together, [file]: bytes })) files.set(name as RunFile, own);
    },
    onReport: ({ points }: { points: readonly { series: string; value: number }[] }) =>
      void losses.push(...points.filter(({ series }) => series === 'train_loss').map(({ value }) => value)),
  };
  const training = await learner.open({ ...rows, config, control, surroundings, events, others: otherLearners });
  const start = pace.clock();
  while (await training.advance(slice)) {
    await pace.breathe();
    const spent = pace.clock() - start;
    // A search stopped within its first trial has nothing to show: it may finish that.
    const nothing = data.parts !== undefined && !files.has('model.json');
    const time = 'steps' in limit || nothing ? most : limit.milliseconds;
    if (spent > time || ('steps' in limit && losses.length >= limit.steps)) control.stop();
  }
  const [model, weights] = [files.get('model.json'), files.get('best.safetensors')];
  if (!model || !weights) throw new NotDone(`Needs a model to look at; none came to an end in ${most / 1000} s.`);
  const trained = readTrained(decodeText(model), weights, 0);
  const { outputs } = await trained.outputs(rows);
  const width = outputs.length / shard.rows;
  return { outputs: outputs.slice(data.counts.train * width), losses };
}
