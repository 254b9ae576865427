// A run that begins with another one reads rows as that one does: texts by its tokenizer, pixels by its normalisation. The weights know no other.

import { isNetwork } from '../learners/network/declaration.ts';
import type { DataService, RowReading } from '../protocol/data.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';

interface Parts {
  readonly store: Pick<StoreService, 'readFile'>;
  readonly data: Pick<DataService, 'readingOf'>;
}

/** How a run reads rows, for one that begins with it. */
export async function readingOf({ store, data }: Parts, { id, config }: RunRecord): Promise<RowReading> {
  const file = isNetwork(config) ? await store.readFile({ run: id, file: 'preprocessing.json' }) : null;
  if (!isNetwork(config) || file === null) return { texts: null, normalization: null };
  const { layers } = config.model;
  const tables = layers.flatMap(({ type, most }) => (type === 'position_embedding' ? [Number(most ?? 0)] : []));
  const places = tables.includes(0) ? undefined : tables.length > 0 ? Math.min(...tables) : 0;
  const tokens = layers.some(({ type }) => type === 'token_embedding') ? { places } : null;
  return data.readingOf({ preprocessing: JSON.parse(new TextDecoder().decode(file)) as unknown, tokens });
}
