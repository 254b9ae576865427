// What is said of another file's columns: each column a run needs with what stands for it and how it was read, and for each row
// what could not be used.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnMatch, FileMatch } from '../../protocol/data.ts';
import { quoteText } from '../sql.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { show } from '../schema/typing.ts';
import { describeLoss, isAbove, isUnusable, respelling, trainingMissing } from './losses.ts';
import { lostValues } from './match.ts';
import type { MatchedColumn } from './match.ts';
import type { ColumnSources } from './match-names.ts';
import type { FeatureRecipe, TargetRecipe } from './recipe.ts';

/** Unusable values of a column that are listed. */
const listedValues = 8;

interface Described {
  readonly used: readonly MatchedColumn[];
  readonly sources: ColumnSources;
  readonly names: readonly string[];
  readonly without: ReadonlySet<string>;
  readonly target: TargetRecipe;
}

/** Each column with its state: nothing is refused here, whoever asks decides. */
export async function describeMatch(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { used, sources, names, without, target }: Described,
): Promise<FileMatch> {
  const columns: ColumnMatch[] = [];
  for (const column of used) {
    const name = column.recipe.column;
    const found = sources.get(name) ?? null;
    const refused = found === null || isUnusable(column, table.rows);
    const loss = isAbove(column, table.rows) && found !== null ? await describeLoss(connection, table, column) : null;
    const other = respelling(column);
    const told = [loss, other].filter((message) => message !== null);
    const status = without.has(name) ? 'without' : refused ? 'refused' : told.length > 0 ? 'warned' : 'fine';
    const absent = found === null ? `The file has no column "${name}".` : null;
    const { kind } = column.recipe;
    columns.push({
      name,
      kind: kind === 'one_hot' || kind === 'embedding' || kind === 'classes' || kind === 'value' ? 'category' : kind,
      found,
      status,
      read: wordsFor(column, status),
      message: [absent, ...told].filter((message) => message !== null).join(' ') || null,
      missing: column.missing,
      unknown: column.unknown,
      values: column.unknown > 0 ? await lostValues(connection, table, column, listedValues) : [],
      ...('categories' in column.recipe ? { categories: column.recipe.categories } : {}),
    });
  }
  const taken = new Set([...sources.values(), target.column]);
  return { columns, extra: names.filter((name) => !taken.has(name)), names };
}

function wordsFor({ recipe, unknown, respelled }: MatchedColumn, status: ColumnMatch['status']): string {
  if (status === 'refused') return 'refused';
  if (status === 'without') return 'counts as missing';
  if (unknown > 0) return `${show(unknown)} unknown`;
  switch (recipe.kind) {
    case 'number':
    case 'value':
      return 'number';
    case 'boolean':
      return 'yes or no';
    case 'datetime':
      return 'date';
    case 'one_hot':
      return `${show(recipe.categories.length)} values${respelled.length > 0 ? ', other spelling' : ''}`;
    case 'embedding':
      return `${show(recipe.categories.length)} values${respelled.length > 0 ? ', other spelling' : ''}`;
    case 'classes':
      return `${show(recipe.classes.length)} classes`;
    case 'text':
      return 'text';
    default:
      return recipe satisfies never;
  }
}

/** SQL for what could not be used of a row, in words; empty = nothing. Missing cells count where training had none. */
export function reasonsOf(columns: readonly MatchedColumn[]): string {
  const parts = columns.flatMap((column) => {
    const { cell, usable, recipe } = column;
    const unusable =
      column.unknown === 0
        ? []
        : [
            `CASE WHEN (${cell}) IS NOT NULL AND NOT (${usable}) THEN ${quoteText(`${recipe.column}: "`)} || CAST(${cell} AS VARCHAR) || ${quoteText(`" is ${problemOf(recipe)}`)} END`,
          ];
    const empty =
      column.missing === 0 || trainingMissing(column) !== 0
        ? []
        : [`CASE WHEN (${cell}) IS NULL THEN ${quoteText(`${recipe.column} is missing`)} END`];
    return [...unusable, ...empty];
  });
  return parts.length === 0 ? "''" : `concat_ws('; ', ${parts.join(', ')})`;
}

function problemOf({ kind }: FeatureRecipe | TargetRecipe): string {
  if (kind === 'number' || kind === 'value') return 'no number';
  if (kind === 'datetime') return 'no date';
  return kind === 'boolean' ? 'neither yes nor no' : 'unknown';
}
