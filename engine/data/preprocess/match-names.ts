// Which column of another file stands for which column of a run: as a person says, by its very name, or by its name without
// case and marks.

import { InputError } from '../../protocol/errors.ts';
import type { DataWarning, FileMatching } from '../../protocol/data.ts';
import { ownValue } from '../../protocol/own.ts';
import { closest } from '../../protocol/closest.ts';
import { bareName } from './forms.ts';
import type { Preprocessing } from './recipe.ts';

/** The file's column for each column the run needs; null = none. */
export type ColumnSources = ReadonlyMap<string, string | null>;

/** Without `match` only the very name counts. No column of the file stands for two. */
export function findColumns(
  names: readonly string[],
  { features, target }: Preprocessing,
  match: FileMatching | undefined,
): ColumnSources {
  const said = new Map(Object.entries(match?.columns ?? {}));
  const sources = new Map<string, string | null>();
  const taken = new Set<string>([target.column]);
  const take = (column: string, name: string | null): void => {
    sources.set(column, name);
    if (name !== null) taken.add(name);
  };
  for (const { column } of features) {
    const chosen = said.get(column);
    if (chosen === null) take(column, null);
    else if (chosen !== undefined && names.includes(chosen)) take(column, chosen);
  }
  for (const { column } of features) {
    if (!sources.has(column) && names.includes(column) && !taken.has(column)) take(column, column);
  }
  for (const { column } of features) {
    if (sources.has(column)) continue;
    const alike =
      match === undefined ? [] : names.filter((name) => !taken.has(name) && bareName(name) === bareName(column));
    take(column, alike.length === 1 ? alike[0] : null);
  }
  return sources;
}

/** Columns that a person goes without. */
export function withoutColumns(match: FileMatching | undefined): ReadonlySet<string> {
  return new Set(Object.entries(match?.columns ?? {}).flatMap(([column, name]) => (name === null ? [column] : [])));
}

/** What a person says values of a column stand for. */
export function valuesOf(match: FileMatching | undefined, column: string): ReadonlyMap<string, string> | undefined {
  const said = ownValue(match?.values ?? {}, column);
  return said === undefined ? undefined : new Map(Object.entries(said));
}

/** @throws InputError `input.missing_column` naming the columns that are not there, and what may be meant. */
export function requireColumns(
  file: string,
  names: readonly string[],
  sources: ColumnSources,
  match: FileMatching | undefined,
): void {
  const without = withoutColumns(match);
  const lacking = [...sources].flatMap(([column, name]) => (name === null && !without.has(column) ? [column] : []));
  if (lacking.length === 0) return;
  const quoted = lacking.slice(0, 8).map((column) => `"${column}"`);
  const listed = quoted.join(', ') + (lacking.length > 8 ? ` and ${lacking.length - 8} more` : '');
  const used = new Set(sources.values());
  const spare = names.filter((name) => !used.has(name));
  const near = lacking.flatMap((column) => {
    const name = nearest(column, spare);
    return name === null ? [] : [lacking.length === 1 ? `"${name}"` : `"${name}" for "${column}"`];
  });
  throw new InputError(
    'input.missing_column',
    `${file} lacks ${lacking.length === 1 ? 'a column' : 'columns'} the model was trained on: ${listed}.`,
    near.length > 0
      ? `Did you mean ${near.slice(0, 8).join(', ')}?`
      : `Its columns are: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' …' : ''}.`,
  );
}

/** What is read under another name. */
export function renamed(sources: ColumnSources): DataWarning[] {
  const pairs = [...sources].filter(([column, name]) => name !== null && name !== column);
  if (pairs.length === 0) return [];
  const named = pairs.slice(0, 3).map(([column, name]) => `"${name}" as "${column}"`);
  const more = pairs.length > 3 ? ` and ${pairs.length - 3} more` : '';
  const message = `Columns are named differently than in training: ${named.join(', ')}${more}.`;
  return [{ code: 'renamed', message, columns: pairs.map(([column]) => column) }];
}

/** The name that is the same but for case and marks, else the nearest. */
function nearest(column: string, names: readonly string[]): string | null {
  return names.find((name) => bareName(name) === bareName(column)) ?? closest(column, names);
}
