// Raw columns as numbers: the SQL that hands each feature to JavaScript as one DOUBLE column, texts as VARCHAR. Numbers and times as they
// are, booleans as 0 and 1, categories as their position in a list (from 1; 0 = missing or not in the list).

import { rawCodes } from '../../model/spec.ts';
import { quoteText } from '../sql.ts';
import { exactText, numericValue, typedValue } from '../schema/stored.ts';
import type { StoredColumn } from '../schema/stored.ts';
import type { FeatureRecipe, TargetRecipe } from './recipe.ts';
import { asFitted } from './recipe.ts';

/** SQL for the position of a column's value in `categories`, from 1; 0 = missing or unknown. DuckDB hashes them once. */
export function categoryCode(column: StoredColumn, categories: readonly string[]): string {
  const type = `ENUM(${categories.map(quoteText).join(', ')})`;
  return `coalesce(CAST(enum_code(TRY_CAST(${typedValue(column, 'category')} AS ${type})) AS DOUBLE) + 1, 0.0::DOUBLE)`;
}

/** SQL for the raw value that a recipe's encoder takes, of a column read as it was while fitting. */
export function rawFeature(recipe: FeatureRecipe | TargetRecipe, column: StoredColumn): string {
  return rawValue(recipe, asFitted(column, recipe));
}

/**
 * SQL for what a raw column holds, of a value as above and of the cell, which is NULL where nothing is there: categories are told
 * apart from those that are missing and those that are unknown (`rawCodes`).
 */
export function rawCell({ kind }: FeatureRecipe, value: string, cell: string): string {
  if (kind !== 'one_hot' && kind !== 'embedding') return value;
  const { missing, unseen, first } = rawCodes;
  const known = `(${value}) + ${first - 1}.0::DOUBLE`;
  return `CASE WHEN (${cell}) IS NULL THEN ${missing}.0::DOUBLE WHEN (${value}) > 0 THEN ${known} ELSE ${unseen}.0::DOUBLE END`;
}

/** The same of a column whose spellings are settled. A target's: its class from 1 (0 = none of them), or its value. */
export function rawValue(recipe: FeatureRecipe | TargetRecipe, column: StoredColumn): string {
  switch (recipe.kind) {
    case 'number':
    case 'boolean':
    case 'datetime':
      return numericValue(column, recipe.kind);
    case 'value':
      return numericValue(column, 'number');
    case 'one_hot':
    case 'embedding':
      return categoryCode(column, recipe.categories);
    case 'classes':
      return categoryCode(column, recipe.classes);
    case 'text':
      return exactText(column);
    default:
      return recipe satisfies never;
  }
}
