// Addresses of views that depend on what is in view.

import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { isPretrained } from '../../engine/protocol/pretrained.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { dataForModel } from './model-data.ts';
import type { AppState } from './state.svelte.ts';

/** New run with the dataset in view, else the newest one. */
export function newRunAddress(app: AppState): string {
  const { view, parts } = app.router.address;
  const dataset = view === 'dataset' ? parts[0] : app.datasets.list[0]?.id;
  return dataset ? `#new/${dataset}` : '#new';
}

export function compareAddress(app: AppState): string {
  return app.compared.length > 0 ? `#compare/${app.compared.join(',')}` : '#compare';
}

/**
 * The address of a new run with the settings of another, or why there is none: a model of others has no rows here, and begins with pictures or
 * texts that are.
 */
export function againAddress(
  app: AppState,
  { id, dataset, config }: Pick<RunRecord, 'id' | 'dataset' | 'config'>,
): { readonly address: string } | { readonly reason: string } {
  if (!isPretrained(config)) return { address: `#new/${dataset}?from=${id}` };
  const layers = declarationOf(config).layers?.(config) ?? [];
  const pictures = !layers.some(({ type }) => type === 'token_embedding');
  const own = dataForModel(app.datasets.list, pictures);
  return own
    ? { address: `#new/${own.id}?from=${id}&weights=best` }
    : { reason: `Import ${pictures ? 'pictures' : 'a table of texts'} to train it on first` };
}
