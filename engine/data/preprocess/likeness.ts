// Columns of a file that were exchanged: numbers, or times, that lie as those of another column did in training and not as their own.
// Names cannot tell that.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import type { MeasuredTable } from '../schema/table.ts';
import type { MatchedColumn } from './match.ts';
import type { FeatureRecipe } from './recipe.ts';

/** In fewer rows mean and deviation tell nothing. */
const fewestRows = 20;
/** Distance from its own column from which on a column is looked at: means twice the deviation apart. */
const far = 0.5;
/** Distance to another column that counts as its own, and how many times nearer that one has to be. */
const near = 0.1;
const timesNearer = 10;
/** Named in one message. */
const namedColumns = 3;

interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

/** Bhattacharyya's distance of two normal distributions. */
function distance(one: Spread, other: Spread): number {
  // A file may hold one value over and over.
  const a = Math.max(one.deviation, other.deviation / 20) ** 2;
  const b = other.deviation ** 2;
  return (one.mean - other.mean) ** 2 / (4 * (a + b)) + Math.log((a + b) / (2 * Math.sqrt(a * b))) / 2;
}

type Spreading = Extract<FeatureRecipe, { kind: 'number' | 'datetime' }>;
const spreads = (column: MatchedColumn): column is MatchedColumn & { readonly recipe: Spreading } =>
  column.recipe.kind === 'number' || column.recipe.kind === 'datetime';

/** Says which columns look like others. */
export async function likeOthers(
  connection: DuckDBConnection,
  table: MeasuredTable,
  matched: readonly MatchedColumn[],
): Promise<readonly DataWarning[]> {
  const columns = matched.filter(spreads);
  if (columns.length < 2 || table.rows < fewestRows) return [];
  const selected = columns.flatMap(({ value }, index) => [
    `count(${value}) AS rows_${index}`,
    `avg(${value}) AS mean_${index}`,
    `stddev_pop(${value}) AS deviation_${index}`,
  ]);
  const [found = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM ${table.from}`);
  const here = columns.map((_, index): Spread | null => {
    const [mean, deviation] = [Number(found[`mean_${index}`]), Number(found[`deviation_${index}`])];
    const known = Number(found[`rows_${index}`]) >= fewestRows && Number.isFinite(mean) && Number.isFinite(deviation);
    return known ? { mean, deviation } : null;
  });
  const alike = columns.flatMap(({ recipe }, index) => {
    const own = here[index];
    if (!own) return [];
    const apart = distance(own, recipe);
    if (apart < far) return [];
    const others = columns.filter((other) => other.recipe.kind === recipe.kind && other.recipe !== recipe);
    const measured = others.map((other) => ({ name: other.recipe.column, to: distance(own, other.recipe) }));
    const nearest = measured.reduce((best, one) => (one.to < best.to ? one : best), { name: '', to: Infinity });
    return nearest.to < near && nearest.to * timesNearer < apart
      ? [{ column: recipe.column, like: nearest.name, own, recipe }]
      : [];
  });
  return alike.slice(0, namedColumns).map(({ column, like, own, recipe }) => ({
    code: 'like_other',
    message:
      recipe.kind === 'number'
        ? `${column} looks like ${like}: its mean is ${figure(own.mean)}, in training it was ${figure(recipe.mean)}. Were the two exchanged?`
        : `${column} looks like ${like}: its times are about ${day(own.mean)}, in training they were about ${day(recipe.mean)}. Were the two exchanged?`,
    columns: [column, like],
  }));
}

const figure = (value: number): string =>
  Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 });
const day = (time: number): string => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString().slice(0, 10);
};
