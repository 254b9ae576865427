// The weights that a run began with, for whoever trains with its settings again.

import type { Checkpoint, TransferRequest } from './going-on.ts';
import type { RunRecord } from './runs.ts';

type Begun = Pick<RunRecord, 'relation' | 'parent' | 'start'>;

interface Runs {
  run(request: { run: number }): Promise<Begun>;
  checkpoints(request: { run: number }): Promise<readonly Checkpoint[]>;
}

/**
 * The weights that a run began with, or the one did that it goes on from; undefined: they were drawn by chance; null: their run is not there
 * any more, nor, where that went on itself, is anybody who knows. Whether that still keeps them shows where they are read.
 */
export async function beginningOf(runs: Runs, run: Begun): Promise<TransferRequest | null | undefined> {
  const { relation, parent, start } = run;
  if (parent === null) return undefined;
  if (relation === 'continued') {
    const before = await runs.run({ run: parent }).catch(() => null);
    return before === null ? null : beginningOf(runs, before);
  }
  if (relation !== 'started from') return undefined;
  if ((await runs.run({ run: parent }).catch(() => null)) === null) return null;
  const { epoch = 0, upTo } = start ?? {};
  const kept = await runs.checkpoints({ run: parent }).catch(() => []);
  const found = kept.find((state) => state.epoch === epoch);
  const checkpoint = found && found.kept !== 'epoch' ? found.kept : epoch > 0 ? epoch : 'best';
  return { run: parent, checkpoint, ...(upTo === undefined ? {} : { upTo }) };
}
