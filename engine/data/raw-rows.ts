// Some rows of a table as a run's preprocessing finds them: numbers and times as numbers, categories and booleans as texts. What an
// exported model is fed to see whether it answers as the run does.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { RawColumnValues } from '../protocol/data.ts';
import { queryColumns } from './database.ts';
import { asFitted, parsePreprocessing, type FeatureRecipe } from './preprocess/recipe.ts';
import { exactText, numericValue, typedValue, type StoredColumn } from './schema/stored.ts';
import { parquetTable } from './sql.ts';

/**
 * The columns of the recipe's features, at these rows in this order.
 * @throws InputError `input.preprocessing`.
 */
export async function readRawRows(
  connection: DuckDBConnection,
  path: string,
  columns: readonly StoredColumn[],
  { rows, preprocessing }: { readonly rows: readonly number[]; readonly preprocessing: unknown },
): Promise<readonly RawColumnValues[]> {
  const { features } = parsePreprocessing(preprocessing);
  const stored = new Map(columns.map((column) => [column.name, column]));
  const expressions = features.map((feature) => rawText(feature, stored.get(feature.column) as StoredColumn));
  const wanted = rows.map((row) => Math.floor(row)).join(', ');
  const sql = `SELECT file_row_number, ${expressions.join(', ')} FROM ${parquetTable(path)} WHERE file_row_number IN (${wanted})`;
  const [found = [], ...values] = await queryColumns(connection, sql);
  const places = new Map(found.map((row, place) => [Number(row), place]));
  const order = rows.map((row) => places.get(row) as number);
  return features.map(({ column: name, kind }, index) => {
    const column = values[index] ?? [];
    if (kind === 'number' || kind === 'datetime') {
      return { name, values: Float64Array.from(order, (place) => Number(column[place] ?? NaN)) };
    }
    return { name, values: order.map((place) => String(column[place] ?? '')) };
  });
}

function rawText(feature: FeatureRecipe, column: StoredColumn): string {
  const fitted = asFitted(column, feature);
  if (feature.kind === 'number' || feature.kind === 'datetime') return numericValue(fitted, feature.kind);
  return feature.kind === 'text' ? exactText(fitted) : typedValue(fitted, 'category');
}
