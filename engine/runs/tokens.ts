// A run that begins with a model of texts reads by its tokenizer: the weights know no others.

import { isNetwork } from '../learners/network/declaration.ts';
import type { DataService } from '../protocol/data.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';

interface Parts {
  readonly store: Pick<StoreService, 'readFile'>;
  readonly data: Pick<DataService, 'keepTokens'>;
}

/** Keeps the tokenizers of a run for one that begins with it: their name; null where it reads no texts. */
export async function tokensOf({ store, data }: Parts, { id, config }: RunRecord): Promise<string | null> {
  if (!isNetwork(config)) return null;
  const { layers } = config.model;
  if (!layers.some(({ type }) => type === 'token_embedding')) return null;
  const file = await store.readFile({ run: id, file: 'preprocessing.json' });
  if (file === null) return null;
  const tables = layers.flatMap(({ type, most }) => (type === 'position_embedding' ? [Number(most ?? 0)] : []));
  const places = tables.includes(0) ? undefined : tables.length > 0 ? Math.min(...tables) : 0;
  return data.keepTokens({ preprocessing: JSON.parse(new TextDecoder().decode(file)) as unknown, places });
}
