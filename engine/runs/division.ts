// What divided the rows of a run into splits and parts.

import type { RunConfig, RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';

/**
 * Dataset, settings and seed by which the rows of a run were divided. A member of an ensemble learned from the rows of that, whatever seed it
 * draws its own numbers by: its own would divide them otherwise, and test it on rows that it learned from. Throws as `store.run`.
 */
export async function divisionOf(
  store: Pick<StoreService, 'run'>,
  { config, relation, parent }: Pick<RunRecord, 'config' | 'relation' | 'parent'>,
): Promise<RunConfig> {
  return relation === 'member' && parent !== null ? (await store.run({ run: parent })).config : config;
}
