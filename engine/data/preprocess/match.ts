// Reading another file's columns by a fitted recipe. The file may write its numbers and dates in its own way, and its
// categories in other letters: what it holds is found out as on import, and of each column it is counted what was lost.

import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../database.ts';
import { dayComesFirst, isOrdered, otherOrder } from '../schema/dates.ts';
import { otherReading, spellingTitle } from '../schema/numbers.ts';
import { typedValue } from '../schema/stored.ts';
import type { StoredColumn } from '../schema/stored.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { categoryCode, rawValue } from './features.ts';
import { meantCategory } from './forms.ts';
import { asFitted } from './recipe.ts';
import type { FeatureRecipe, TargetRecipe } from './recipe.ts';
import { nearer } from './request-numbers.ts';

/** A recipe's column as a file has it. */
export interface MatchedColumn {
  readonly recipe: FeatureRecipe | TargetRecipe;
  /** SQL for the raw value that the encoder takes. */
  readonly value: string;
  /** SQL for the cell; NULL where it is empty or says that the value is missing. */
  readonly cell: string;
  /** SQL that is true where there is a cell the recipe can use. */
  readonly usable: string;
  /** Cells that are empty, and cells that hold something the recipe cannot use. */
  readonly missing: number;
  readonly unknown: number;
  /** Column as it is read. */
  readonly reading: StoredColumn;
  /** Categories that are spelled differently: how they are, and how they were. */
  readonly respelled: readonly (readonly [found: string, category: string])[];
  /** Day and month may be either way round, and training does not tell. */
  readonly ambiguous: boolean;
}

/** Columns looked at by one query. */
const columnsPerQuery = 64;
/** Categories unknown as they are spelled that are compared with the known ones, the most frequent first. */
const comparedValues = 10_000;

/** How each recipe's column of a file is read. `columns`: as the import would spell them. */
export async function matchColumns(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly {
    readonly column: StoredColumn;
    readonly recipe: FeatureRecipe | TargetRecipe;
    /** Values of the file, and the categories they stand for. */
    readonly values?: ReadonlyMap<string, string>;
  }[],
): Promise<MatchedColumn[]> {
  const matched: MatchedColumn[] = [];
  for (let start = 0; start < columns.length; start += columnsPerQuery) {
    const group = columns.slice(start, start + columnsPerQuery);
    const candidates = await Promise.all(
      group.map(async ({ column, recipe, values }) => {
        const categories = categoriesOf(recipe);
        return categories === null
          ? readings(column, recipe).map((reading) => ({ ...unchanged, reading, recipe }))
          : [await matchCategories(connection, table, keepKnown(column, recipe), recipe, categories, values)];
      }),
    );
    const selected = candidates.flatMap((readingsOf, index) =>
      readingsOf.flatMap((candidate, at) => {
        const { cell, usable } = expressions(candidate);
        return [
          `count(*) FILTER (${cell} IS NULL) AS missing_${index}_${at}`,
          `count(*) FILTER (${cell} IS NOT NULL AND NOT (${usable})) AS unknown_${index}_${at}`,
          ...(readingsOf.length > 1 ? [`${farness(candidate)} AS far_${index}_${at}`] : []),
        ];
      }),
    );
    const [counts = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM ${table.from}`);
    candidates.forEach((readingsOf, index) => {
      const counted = readingsOf.map((candidate, at) => ({
        ...expressions(candidate),
        recipe: candidate.recipe,
        missing: Number(counts[`missing_${index}_${at}`] ?? 0),
        unknown: Number(counts[`unknown_${index}_${at}`] ?? 0),
        reading: candidate.reading,
        respelled: candidate.respelled,
        ambiguous: false,
        far: Number(counts[`far_${index}_${at}`] ?? 0),
      }));
      // As in training, unless another way of writing reads more of it, or gives numbers that are more like training's.
      const best = counted.reduce((one, other) => (isBetter(other, one) ? other : one));
      const equal = counted.filter(({ unknown }) => unknown === best.unknown);
      matched.push({ ...best, ambiguous: isDoubtful(best, equal) });
    });
  }
  return matched;
}

/** A column that a file does not have: all of it is missing. */
export function absentColumn(recipe: FeatureRecipe, rows: number): MatchedColumn {
  const none = recipe.kind === 'text' ? 'CAST(NULL AS VARCHAR)' : 'CAST(NULL AS DOUBLE)';
  const value = categoriesOf(recipe) === null ? none : '0.0::DOUBLE';
  const reading: StoredColumn = { name: recipe.column, storage: 'VARCHAR', missing: [] };
  const nothing = { missing: rows, unknown: 0, respelled: [], ambiguous: false };
  return { recipe, value, cell: 'CAST(NULL AS VARCHAR)', usable: 'false', reading, ...nothing };
}

/** A few different cells of a column that cannot be used, the most frequent first. */
export async function lostValues(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { cell, usable }: MatchedColumn,
  limit: number,
): Promise<readonly { readonly value: string; readonly count: number }[]> {
  const rows = await queryRows(
    connection,
    `SELECT CAST(${cell} AS VARCHAR) AS cell, count(*) AS count FROM ${table.from} WHERE ${cell} IS NOT NULL AND NOT (${usable})
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${limit}`,
  );
  return rows.map((row) => ({ value: String(row.cell), count: Number(row.count) }));
}

interface Candidate {
  readonly reading: StoredColumn;
  readonly recipe: FeatureRecipe | TargetRecipe;
  readonly value?: string;
  readonly respelled: MatchedColumn['respelled'];
}

const unchanged = { respelled: [] } as const;

function expressions({ reading, recipe, value: special }: Candidate): Pick<MatchedColumn, 'value' | 'cell' | 'usable'> {
  const value = special ?? rawValue(recipe, reading);
  const usable = categoriesOf(recipe) === null ? `(${value}) IS NOT NULL` : `(${value}) > 0`;
  return { value, cell: cellOf(reading, recipe), usable };
}

/** A category or a text is its characters, whatever it is stored as: no number is too large to be one. */
function cellOf(column: StoredColumn, recipe: FeatureRecipe | TargetRecipe): string {
  if (categoriesOf(recipe) !== null || recipe.kind === 'text') return typedValue(column, 'category');
  if (column.storage === 'DOUBLE') return typedValue({ ...column, dateFormat: undefined }, 'number');
  return typedValue(
    column,
    column.storage === 'VARCHAR' ? 'text' : column.storage === 'BOOLEAN' ? 'boolean' : 'datetime',
  );
}

function categoriesOf(recipe: FeatureRecipe | TargetRecipe): readonly string[] | null {
  if (recipe.kind === 'one_hot' || recipe.kind === 'embedding') return recipe.categories;
  return recipe.kind === 'classes' ? recipe.classes : null;
}

interface Weighed {
  readonly recipe: FeatureRecipe | TargetRecipe;
  readonly reading: StoredColumn;
  readonly unknown: number;
  readonly far: number;
}

function isBetter(other: Weighed, best: Weighed): boolean {
  if (other.unknown !== best.unknown) return other.unknown < best.unknown;
  return isNumberRecipe(other.recipe) && other.far * nearer < best.far;
}

/** SQL for how far a column's numbers, read in some way, are from those of the training rows. */
function farness(candidate: Candidate): string {
  const { recipe } = candidate;
  if (recipe.kind !== 'number' && recipe.kind !== 'value') return '0';
  const [mean, deviation] = recipe.kind === 'number' ? [recipe.mean, recipe.deviation] : [recipe.offset, recipe.scale];
  return `median(abs((${expressions(candidate).value}) - ${mean}::DOUBLE) / ${deviation}::DOUBLE)`;
}

function isNumberRecipe({ kind }: FeatureRecipe | TargetRecipe): boolean {
  return kind === 'number' || kind === 'value';
}

/** Whether dates could as well be read with day and month the other way round, and are not written as in training. */
function isDoubtful({ recipe, reading }: Weighed, equal: readonly Weighed[]): boolean {
  if (recipe.kind !== 'datetime' || recipe.dateFormat === reading.dateFormat) return false;
  const first = dayComesFirst(reading.dateFormat);
  return first !== null && equal.some((other) => dayComesFirst(other.reading.dateFormat) === !first);
}

/** Ways to read a column of numbers, dates or booleans: as in training, then as the file itself suggests. */
function readings(column: StoredColumn, recipe: FeatureRecipe | TargetRecipe): StoredColumn[] {
  const fitted = asFitted(column, recipe);
  // What is stored as numbers, such as 20230114, has no other way of being read.
  if (column.storage !== 'VARCHAR') return [{ ...fitted, dateFormat: column.dateFormat }];
  const own = { ...column, missing: fitted.missing };
  if (recipe.kind === 'datetime') return dateReadings(fitted, own, dayComesFirst(recipe.dateFormat));
  if (!isNumberRecipe(recipe)) return [own];
  const spellings = [fitted.numbers, own.numbers, otherReading(own.numbers) ?? own.numbers];
  const titles = spellings.map((numbers) => (numbers === undefined ? '' : spellingTitle(numbers)));
  return spellings
    .filter((_, index) => titles.indexOf(titles[index] ?? '') === index)
    .map((numbers) => ({ ...own, numbers }));
}

/** Dates as in training, then as the file suggests; where that may be either way round, in training's order of the two. */
function dateReadings(fitted: StoredColumn, own: StoredColumn, dayFirst: boolean | null): StoredColumn[] {
  const known = fitted.dateFormat === own.dateFormat ? [] : [fitted];
  if (!isOrdered(own.dateFormat)) return [...known, own];
  const other = { ...own, dateFormat: otherOrder(own.dateFormat) };
  const asTrained = dayFirst === null || dayFirst === dayComesFirst(own.dateFormat);
  return asTrained ? [...known, own, other] : [...known, other, own];
}

/** What a new file's few rows would take for "missing" may be a category that training knows. */
function keepKnown(column: StoredColumn, recipe: FeatureRecipe | TargetRecipe): StoredColumn {
  const fitted = asFitted(column, recipe);
  const known = new Set(categoriesOf(recipe));
  return { ...fitted, missing: fitted.missing.filter((word) => !known.has(word)) };
}

/** Finds categories that differ only in case, spaces, the way of writing a number or the words for yes and no, where there is no doubt. */
async function matchCategories(
  connection: DuckDBConnection,
  table: MeasuredTable,
  column: StoredColumn,
  recipe: FeatureRecipe | TargetRecipe,
  categories: readonly string[],
  said: ReadonlyMap<string, string> = new Map(),
): Promise<Candidate> {
  const exact = categoryCode(column, categories);
  const found = await queryRows(
    connection,
    `SELECT cell FROM (SELECT ${typedValue(column, 'category')} AS cell, ${exact} AS code FROM ${table.from})
     WHERE cell IS NOT NULL AND code = 0 GROUP BY cell ORDER BY count(*) DESC, cell LIMIT ${comparedValues}`,
  );
  const meantBy = meantCategory(categories);
  const variants = found.flatMap(({ cell }) => {
    const meant = said.get(String(cell));
    const code = (meant === undefined ? meantBy(String(cell)) : categories.indexOf(meant) + 1) || null;
    return code === null ? [] : [{ cell: String(cell), code }];
  });
  if (variants.length === 0) return { reading: column, recipe, value: exact, respelled: [] };
  const variant = categoryCode(
    column,
    variants.map(({ cell }) => cell),
  );
  const list = `[${['0', ...variants.map(({ code }) => String(code))].join(', ')}]`;
  return {
    reading: column,
    recipe,
    value: `CASE WHEN ${exact} > 0 THEN ${exact} ELSE CAST(${list}[CAST(${variant} AS BIGINT) + 1] AS DOUBLE) END`,
    respelled: variants.map(({ cell, code }) => [cell, categories[code - 1] as string] as const),
  };
}
