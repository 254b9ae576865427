// A short training of any learner, on rows in memory: what a check asks of one that brings no trial of its own. It is stopped when its time
// is over, as a person would, and put to use with what it has kept.

import type { Examination, Pace, SampledRows, Trial } from '../doctor/check.ts';
import type { RunFile } from '../protocol/runs.ts';
import { RunControl, type Surroundings } from '../train/control.ts';
import { decodeText } from '../train/safetensors.ts';
import type { Examined, Learner } from './learner.ts';
import { readTrained } from './predict.ts';

/** Milliseconds between two looks at the clock. */
const slice = 50;
/** Milliseconds of one that is given steps instead of a time. */
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
    onFile: ({ file, data: bytes }: { file: RunFile; data: Uint8Array }) => void files.set(file, bytes),
    onReport: ({ points }: { points: readonly { series: string; value: number }[] }) =>
      void losses.push(...points.filter(({ series }) => series === 'train_loss').map(({ value }) => value)),
  };
  const training = await learner.open({ ...rows, config, control, surroundings, events });
  const start = pace.clock();
  while (await training.advance(slice)) {
    await pace.breathe();
    const over = pace.clock() - start > ('steps' in limit ? most : limit.milliseconds);
    if (over || ('steps' in limit && losses.length >= limit.steps)) control.stop();
  }
  const trained = readTrained(decodeText(files.get('model.json')!), files.get('best.safetensors')!, 0);
  const { outputs } = await trained.outputs(rows);
  const width = outputs.length / shard.rows;
  return { outputs: outputs.slice(data.counts.train * width), losses };
}
