// What is known of a dataset that would make results look better than they are.

import type { DatasetInfo, DatasetSettings } from '../../engine/protocol/data.ts';
import { plural } from './format.ts';

/** In words, for a run with these settings; null: nothing is known, or what is known is of another target. */
export function tooGoodText(
  { warnings, target }: Pick<DatasetInfo, 'warnings' | 'target'>,
  settings: DatasetSettings,
): string | null {
  const { ignored = [], splitBy } = settings;
  if (settings.target !== target) return null;
  const found = warnings.filter(({ code, columns = [] }) =>
    code === 'leak'
      ? columns.length === 0 || columns.some((column) => !ignored.includes(column))
      : (code === 'time_split' || code === 'group_split') && splitBy === undefined,
  );
  if (found.length === 0) return null;
  const more = found.length === 1 ? '' : ` And ${plural(found.length - 1, 'more thing')} of that kind.`;
  return `${found[0].message}${more}`;
}
