// Addresses of views that depend on what is in view.

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
