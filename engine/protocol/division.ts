// What divided the rows of a run into splits and parts.

import type { RunConfig, RunRecord } from './runs.ts';
import type { StoreService } from './store.ts';

type Runs = Pick<StoreService, 'run'>;
type Asked = Pick<RunRecord, 'config' | 'relation' | 'parent'>;

/**
 * Dataset, settings and seed by which the rows of a run were divided. A member of an ensemble learned from the rows of that, whatever seed it
 * draws its own numbers by: its own would divide them otherwise, and test it on rows that it learned from. Throws as `store.run`.
 */
export async function divisionOf(store: Runs, { config, relation, parent }: Asked): Promise<RunConfig> {
  return relation === 'member' && parent !== null ? (await store.run({ run: parent })).config : config;
}

/**
 * Settings taken from a run for another one, on the rows of the first: a seed by which a member drew its own numbers gives way to the one that
 * divided its rows, unless another was chosen; and of what trained it some rows validate, as no parts do. Throws as `store.run`.
 */
export async function onRowsOf<C extends RunConfig>(store: Runs, run: Asked, config: C): Promise<C> {
  if (run.relation !== 'member') return config;
  const { joined: _, ...settings } = config.settings;
  const seed = config.seed === run.config.seed ? (await divisionOf(store, run)).seed : config.seed;
  return { ...config, settings, seed };
}
