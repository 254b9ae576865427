// Named views of the table of runs: what is asked of the history, in which order, which score and columns are shown. Kept with the other
// choices of the window; one that another version wrote and that says nothing here is left out.

import { ownValue } from '../../../engine/protocol/own.ts';
import type { RunState } from '../../../engine/protocol/runs.ts';
import { isStringList } from '../../app/preferences.ts';
import { allStates } from '../../lib/run-words.ts';
import type { Filters, Shelf, TableState } from './runs.svelte.ts';

export interface SavedView extends TableState {
  readonly name: string;
  readonly columns: readonly string[];
}

export const viewsKey = 'runs.views';

type Unread = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Unread =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The views that were kept, as far as they can be read. */
export function readViews(value: unknown): readonly SavedView[] {
  return Array.isArray(value) ? value.flatMap((one) => (isObject(one) ? readView(one) : [])) : [];
}

function readView(view: Unread): readonly SavedView[] {
  const { name, shelf, filters, sort, series, columns } = view;
  if (typeof name !== 'string' || typeof series !== 'string' || !isStringList(columns)) return [];
  if (!isObject(filters) || !isObject(sort) || typeof sort.by !== 'string') return [];
  const text = (key: string): string | null => {
    const found = ownValue(filters, key);
    return typeof found === 'string' ? found : null;
  };
  const read: Filters = {
    search: text('search') ?? '',
    states: isStringList(filters.states)
      ? (filters.states.filter((state) => allStates.includes(state as RunState)) as RunState[])
      : [],
    dataset: text('dataset'),
    tags: isStringList(filters.tags) ? filters.tags : [],
    group: text('group'),
  };
  const shelves: readonly unknown[] = ['all', 'starred', 'trash'];
  return [
    {
      name,
      series,
      columns,
      shelf: shelves.includes(shelf) ? (shelf as Shelf) : 'all',
      filters: read,
      sort: { by: sort.by, descending: sort.descending === true },
    },
  ];
}

/** With a view added, or in the place of the one of its name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].sort((a, b) => a.name.localeCompare(b.name));
}

/** Whether the table shows exactly this. */
export function shows(view: SavedView, table: TableState, columns: readonly string[]): boolean {
  const { name, ...rest } = view;
  void name;
  const plain = ({ shelf, filters, sort, series }: TableState, shown: readonly string[]): string =>
    JSON.stringify([
      shelf,
      filters.search,
      filters.states,
      filters.dataset,
      filters.tags,
      filters.group,
      sort.by,
      sort.descending,
      series,
      shown,
    ]);
  return plain(rest, view.columns) === plain(table, columns);
}
