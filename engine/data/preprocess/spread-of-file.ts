// How the numbers and times of a file's columns lie, for likeness.ts.

import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../database.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { fewestRows, type Spread, type Spreading, type SpreadColumn } from './likeness.ts';
import type { MatchedColumn } from './match.ts';

const spreads = (column: MatchedColumn): column is MatchedColumn & { readonly recipe: Spreading } =>
  column.recipe.kind === 'number' || column.recipe.kind === 'datetime';

/** Columns looked at by one query: the time of one grows with the square of its columns. */
const columnsPerQuery = 64;

/** Of the columns of numbers and times; none where there are too few to be exchanged. */
export async function spreadsOfFile(
  connection: DuckDBConnection,
  table: MeasuredTable,
  matched: readonly MatchedColumn[],
): Promise<readonly SpreadColumn[]> {
  const columns = matched.filter(spreads);
  if (columns.length < 2 || table.rows < fewestRows) return [];
  const found: SpreadColumn[] = [];
  for (let start = 0; start < columns.length; start += columnsPerQuery) {
    const group = columns.slice(start, start + columnsPerQuery);
    const selected = group.flatMap(({ value }, index) => [
      `count(${value}) AS rows_${index}`,
      `avg(${value}) AS mean_${index}`,
      `stddev_pop(${value}) AS deviation_${index}`,
    ]);
    const [row = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM ${table.from}`);
    group.forEach(({ recipe }, index) => {
      const own: Spread = { mean: Number(row[`mean_${index}`]), deviation: Number(row[`deviation_${index}`]) };
      const known = Number(row[`rows_${index}`]) >= fewestRows && Object.values(own).every(Number.isFinite);
      found.push({ recipe, own: known ? own : null });
    });
  }
  return found;
}
