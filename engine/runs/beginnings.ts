// What an attempt goes on from: the checkpoint of its run, or what the run took over from another one.

import { TrainyardError } from '../protocol/errors.ts';
import { takesOver } from '../protocol/family.ts';
import type { JobStart } from '../protocol/hosts.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { checkCheckpointOf } from '../learners/registry.ts';

type Store = Pick<StoreService, 'readFile' | 'isChecked'>;

/** Of the error of a run whose checkpoints are all damaged: it cannot be resumed. */
export const damagedCheckpoint = 'run.damaged_checkpoint';

const uncheckable =
  'The checkpoint was written before checksums were kept, or its checksums are gone: it could not be checked.';

/** The last checkpoint, or where that is damaged the one before; undefined if there was none yet. */
export async function checkpointOf(
  store: Store,
  { id: run, config }: Pick<RunRecord, 'id' | 'config'>,
  warn: (message: string) => Promise<void>,
): Promise<Uint8Array | undefined> {
  let damage: TrainyardError | null = null;
  for (const file of ['checkpoint.bin', 'checkpoint.previous.bin'] as const) {
    try {
      const data = await store.readFile({ run, file });
      if (data === null) continue;
      checkCheckpointOf(config.learner, data);
      if (damage) await warn(`${damage.message} The run goes on from the checkpoint before it.`);
      if (!(await store.isChecked({ run, file }))) await warn(uncheckable);
      return data;
    } catch (error) {
      const known = error instanceof TrainyardError ? error : null;
      if (known === null || !['run.damaged_file', 'run.checkpoint', 'data.safetensors'].includes(known.code))
        throw error;
      damage ??= known;
    }
  }
  if (damage === null) return undefined;
  throw new TrainyardError(
    damagedCheckpoint,
    `${damage.message} There is no other checkpoint to go on from.`,
    'Train again with the settings of the run; what it has recorded stays.',
  );
}

/** What it begins with of another run. */
export async function startOf(
  store: Store,
  { id: run, parent, relation, start }: Pick<RunRecord, 'id' | 'parent' | 'relation' | 'start'>,
): Promise<JobStart | undefined> {
  if (parent === null || relation === null || !takesOver(relation)) return undefined;
  const file = await store.readFile({ run, file: 'start.bin' });
  if (file !== null) return { ...start, parent, relation, file };
  throw new TrainyardError(
    'run.no_start',
    `What this run took over from run ${parent} is gone from its folder.`,
    `Continue run ${parent} once more.`,
  );
}
