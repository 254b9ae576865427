// All rows of a cross-validation at once, whatever fold tests them: what its mean of models is tried and explained on.

import { rowsAsTheyAre } from '../learners/declared/prepared.ts';
import type { DataService, PreparedData } from '../protocol/data.ts';
import type { RunRecord } from '../protocol/runs.ts';

type Data = Pick<DataService, 'prepare' | 'release'>;

/** All rows in one split, as columns as they are or pixels: their categories are of one dictionary. The caller releases them. */
export function prepareWhole(data: Pick<Data, 'prepare'>, { config }: RunRecord, job: string): Promise<PreparedData> {
  const settings = { ...config.settings, split: [1, 0, 0] as const };
  return data.prepare({ job, dataset: config.dataset, options: { ...rowsAsTheyAre(config), settings } });
}

/**
 * The same of a table, with the fold that tests each row as its part; 0: none of `standing` does. `standing`: folds by their numbers, with the
 * settings they were trained with. The caller releases them.
 */
export async function prepareWholeInFolds(
  data: Data,
  record: RunRecord,
  standing: readonly (readonly [number, Pick<RunRecord, 'config'>])[],
  job: string,
): Promise<PreparedData> {
  const whole = await prepareWhole(data, record, job);
  try {
    const places = new Map(Array.from(whole.sources ?? [], (source, place) => [source, place]));
    const parts = new Uint8Array(whole.counts.train);
    for (const [fold, { config }] of standing) {
      const options = { ...rowsAsTheyAre(config), splits: ['test'] as const };
      const tested = await data.prepare({ job, dataset: config.dataset, options });
      await data.release({ handle: tested.handle });
      for (const source of tested.sources ?? []) {
        const place = places.get(source);
        if (place !== undefined) parts[place] = fold;
      }
    }
    return { ...whole, parts };
  } catch (error) {
    await data.release({ handle: whole.handle });
    throw error;
  }
}
