// A run that trains beside the lab would make every figure too low: those of other processes have to be paused first.

import { InputError } from '../protocol/errors.ts';
import type { StoreService } from '../protocol/store.ts';

/** Throws InputError `input.run_active` if a run trains that is not one of `own`, which whoever measures pauses itself. */
export async function refuseRuns(store: Pick<StoreService, 'runs' | 'recover'>, own: readonly number[]): Promise<void> {
  await store.recover();
  const { runs } = await store.runs({ states: ['running'] });
  const other = runs.find(({ id }) => !own.includes(id));
  if (!other) return;
  throw new InputError(
    'input.run_active',
    `Run ${other.id} (“${other.name}”) trains in another process: what is measured beside it would be too low.`,
    `Wait for its end, or pause it with \`trainyard pause ${other.id}\`.`,
  );
}
