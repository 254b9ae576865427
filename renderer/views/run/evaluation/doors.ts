// Rows are doors: the address of the dataset shown with exactly these rows.

import type { RunRecord } from '../../../../engine/protocol/runs.ts';

/** More rows than an address should carry: of more the first. */
const most = 2_000;

/** `sources`: rows of the dataset, from 0; `title`: what they are, in words. */
export function doorOf({ dataset }: Pick<RunRecord, 'dataset'>, sources: ArrayLike<number>, title: string): string {
  const rows = Array.from({ length: Math.min(most, sources.length) }, (_, i) => sources[i]);
  return `#dataset/${dataset}/rows?only=${rows.join(',')}&of=${encodeURIComponent(title)}`;
}
