// Texts of a table that have a token without a place of its own.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { quoteText } from '../sql.ts';
import { placelessOf, placelessWarning } from './placeless.ts';
import type { FeatureRecipe, TargetRecipe } from './recipe.ts';

/** A warning for each column that has any. `value`: SQL for the raw value of the feature. */
export async function placelessTexts(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly { readonly recipe: FeatureRecipe | TargetRecipe; readonly value: string }[],
): Promise<readonly DataWarning[]> {
  const warnings: DataWarning[] = [];
  for (const { recipe, value } of columns) {
    const token = placelessOf(recipe);
    if (token === undefined) continue;
    const sql = `SELECT count(*) FILTER (contains(${value}, ${quoteText(token)})) AS found FROM ${table.from}`;
    const [{ found }] = await queryRows(connection, sql);
    warnings.push(...placelessWarning(recipe, Number(found)));
  }
  return warnings;
}
