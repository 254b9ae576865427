// What was lost of another file's columns, in words: a share above that of the training rows is warned of, a column of which
// (nearly) nothing is left is refused.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../../protocol/errors.ts';
import type { ColumnUse, DataWarning } from '../../protocol/data.ts';
import { plainSpelling, spellingTitle } from '../schema/numbers.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { short, show } from '../schema/typing.ts';
import { lostValues } from './match.ts';
import type { MatchedColumn } from './match.ts';

/** Share of the rows from which on a column counts as lost. */
const lostShare = 0.95;
/** A column of which less was missing in training than this share is expected to be there. */
const mostlyFilled = 0.5;
/** In fewer rows every cell may well be empty or of a category that is new. */
const fewRows = 5;
/** Columns and spellings named in one message. */
const namedColumns = 3;

/**
 * @throws InputError if (nearly) nothing can be used of a column that was mostly filled in training, or (nearly) nothing of
 * what stands in it.
 */
export async function refuseUnusable(
  connection: DuckDBConnection,
  table: MeasuredTable,
  file: string,
  columns: readonly MatchedColumn[],
): Promise<void> {
  const lost = columns.filter((column) => isUnusable(column, table.rows));
  if (lost.length === 0) return;
  const named = await Promise.all(lost.slice(0, namedColumns).map((column) => describeLoss(connection, table, column)));
  const more = lost.length > namedColumns ? ` And ${lost.length - namedColumns} more columns.` : '';
  throw new InputError(
    'input.unusable_column',
    `${file} does not fit the model. ${named.join(' ')}${more}`,
    `Mend the ${lost.length === 1 ? 'column' : 'columns'}; or predict all the same, with ${lost.length === 1 ? 'it' : 'them'} counting as missing: --force on the command line.`,
  );
}

/** Whether predictions with so little of a column would be guesses. */
export function isUnusable(column: MatchedColumn, rows: number): boolean {
  const { missing, unknown } = column;
  const filled = rows - missing;
  const emptied = missing + unknown >= lostShare * rows && (trainingMissing(column) ?? 0) < mostlyFilled;
  const unreadable = unknown > 0 && unknown >= lostShare * filled;
  const enough = filled >= fewRows || (isMeasure(column) && missing === 0);
  return (emptied && rows >= fewRows) || (unreadable && enough);
}

/** What became of each column, and what to say about it. */
export async function describeUse(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly MatchedColumn[],
): Promise<{ readonly uses: readonly ColumnUse[]; readonly warnings: DataWarning[] }> {
  const warnings: DataWarning[] = [];
  for (const column of columns) {
    const name = column.recipe.column;
    const note = respelling(column);
    if (note !== null) warnings.push({ code: 'respelled', message: note, columns: [name] });
    if (!isAbove(column, table.rows)) continue;
    warnings.push({ code: 'lost_cells', message: await describeLoss(connection, table, column), columns: [name] });
  }
  const uses = columns.map((column) => ({
    name: column.recipe.column,
    missing: column.missing / table.rows,
    unknown: column.unknown / table.rows,
    trainingMissing: trainingMissing(column),
  }));
  return { uses, warnings };
}

/** Recipes of earlier versions say nothing about their share, but a feature without an indicator was always there. */
export function trainingMissing({ recipe }: MatchedColumn): number | null {
  if (recipe.missingShare !== undefined) return recipe.missingShare;
  return 'indicator' in recipe && !recipe.indicator ? 0 : null;
}

/** Whether more is lost than chance would lose, at the training's rate: three standard deviations. */
export function isAbove(column: MatchedColumn, rows: number): boolean {
  const usual = trainingMissing(column);
  const share = (column.missing + column.unknown) / rows;
  // A target that cannot be read measures nothing, whatever training had.
  if (isTarget(column)) return column.unknown > 0;
  if (usual === null) return share >= lostShare;
  return share > usual + 3 * Math.sqrt((usual * (1 - usual)) / rows);
}

function isTarget({ recipe }: MatchedColumn): boolean {
  return recipe.kind === 'classes' || recipe.kind === 'value';
}

function isMeasure({ recipe }: MatchedColumn): boolean {
  return recipe.kind === 'number' || recipe.kind === 'datetime' || recipe.kind === 'boolean';
}

/** "price: 3 of 10 cells hold no number ("abc"); in training none. Expected: numbers around 12.5." */
export async function describeLoss(
  connection: DuckDBConnection,
  table: MeasuredTable,
  column: MatchedColumn,
): Promise<string> {
  const { missing, unknown } = column;
  const parts: string[] = [];
  if (unknown > 0) {
    const examples = await lostValues(connection, table, column, 3);
    const quoted = examples.map(({ value }) => `"${short(value)}"`).join(', ');
    parts.push(`${show(unknown)} of ${show(table.rows)} cells ${problem(column, unknown)} (${quoted})`);
  }
  if (missing > 0) parts.push(`${show(missing)} of ${show(table.rows)} ${missing === 1 ? 'is' : 'are'} empty`);
  const usual = trainingMissing(column);
  const before = usual === null ? '' : `; in training ${usual === 0 ? 'none' : percent(usual)} were lost`;
  return `${column.recipe.column}: ${parts.join(', ')}${before}. Expected: ${expected(column)}.`;
}

function problem({ recipe }: MatchedColumn, cells: number): string {
  const one = cells === 1;
  switch (recipe.kind) {
    case 'number':
    case 'value':
      return one ? 'is no number' : 'are no numbers';
    case 'datetime':
      return one ? 'is no date' : 'are no dates';
    case 'boolean':
      return one ? 'is neither yes nor no' : 'are neither yes nor no';
    case 'one_hot':
    case 'embedding':
    case 'classes':
      return one ? 'is a category the model does not know' : 'are categories the model does not know';
    case 'text':
      return one ? 'is no text' : 'are no texts';
    default:
      return recipe satisfies never;
  }
}

function expected({ recipe }: MatchedColumn): string {
  switch (recipe.kind) {
    case 'number':
      return `numbers around ${show(Number(recipe.mean.toPrecision(4)))}`;
    case 'value':
      return `numbers around ${show(Number(recipe.offset.toPrecision(4)))}`;
    case 'datetime':
      return `dates around ${new Date(recipe.mean).toISOString().slice(0, 10)}`;
    case 'boolean':
      return 'yes or no';
    case 'one_hot':
    case 'embedding':
      return listed(recipe.categories);
    case 'classes':
      return listed(recipe.classes);
    case 'text':
      return 'texts';
    default:
      return recipe satisfies never;
  }
}

function listed(categories: readonly string[]): string {
  const named = categories.slice(0, 4).map((category) => `"${short(category)}"`);
  return named.join(', ') + (categories.length > 4 ? ` and ${show(categories.length - 4)} more` : '');
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}

/** What is written in another way than in training, and how it is read; null = nothing. */
export function respelling({ recipe, reading, respelled, ambiguous }: MatchedColumn): string | null {
  const name = recipe.column;
  if (respelled.length > 0) {
    const named = respelled
      .slice(0, namedColumns)
      .map(([found, category]) => `"${short(found)}" as "${short(category)}"`);
    const more = respelled.length > namedColumns ? ` and ${show(respelled.length - namedColumns)} more` : '';
    return `${name}: categories are spelled differently than in training and read as those meant: ${named.join(', ')}${more}.`;
  }
  if (recipe.kind === 'datetime') {
    if (reading.storage !== 'VARCHAR' || reading.dateFormat === recipe.dateFormat) return null;
    const doubt = ambiguous ? ', although day and month may be the other way round: no value tells' : '';
    return `${name}: dates are written differently than in training; they are read as ${dateWords(reading.dateFormat)}${doubt}.`;
  }
  if (recipe.kind !== 'number' && recipe.kind !== 'value') return null;
  const found = reading.storage === 'VARCHAR' ? (reading.numbers ?? plainSpelling) : reading.written;
  // Whole numbers without marks are the same in every way of writing, and files with types have none.
  if (found === undefined) return null;
  const title = spellingTitle(found);
  if (title === spellingTitle(recipe.numbers ?? plainSpelling)) return null;
  const way = title === '' ? ' plainly, with a decimal point' : title;
  return `${name}: numbers are written${way}, unlike in training; they are read that way.`;
}

/** A date format for people: `%d/%m/%Y` is day/month/year. */
function dateWords(format: string | undefined): string {
  if (format === undefined) return 'ISO dates';
  return format
    .replaceAll('%d', 'day')
    .replaceAll(/%[mbB]/g, 'month')
    .replaceAll(/%[yY]/g, 'year')
    .replaceAll(/%\S+/g, 'time');
}
