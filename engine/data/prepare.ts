// Making a dataset ready for a run: split → fit on the training split → encode. And the same encoding for another file.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../protocol/errors.ts';
import type {
  ColumnInfo,
  DatasetInfo,
  DataWarning,
  LeftOutColumn,
  PrepareOptions,
  PreparedData,
  RowForm,
  TextWay,
} from '../protocol/data.ts';
import { formsOf, leftOutColumns, inWords, splitNames, textColumns } from '../protocol/use.ts';
import type { DatabaseLimits } from './database.ts';
import type { Job } from './jobs.ts';
import type { KeptTable } from './kept-table.ts';
import { keptByColumn, keptTokens } from './kept-tokens.ts';
import { rawCell, rawFeature } from './preprocess/features.ts';
import { fit } from './preprocess/fit.ts';
import { fitText, type TextFit } from './preprocess/fit-texts.ts';
import type { FeatureColumn } from './preprocess/fit.ts';
import { placelessTexts } from './preprocess/placeless-of-file.ts';
import { asFitted } from './preprocess/recipe.ts';
import type { FeatureRecipe, Preprocessing, TargetRecipe } from './preprocess/recipe.ts';
import type { RowStore } from './preprocess/row-store.ts';
import { sourcesOf, splitTable } from './preprocess/split-table.ts';
import { describePrepared, writeRows } from './preprocess/write-rows.ts';
import { measuredTable } from './schema/table.ts';
import type { MeasuredTable } from './schema/table.ts';
import { topOf } from './schema/measure.ts';
import { spellingOf, typedValue } from './schema/stored.ts';
import type { StoredColumn } from './schema/stored.ts';
import { noFeatures, obstacleOf } from './schema/learnable.ts';
import { show } from './schema/typing.ts';
import type { Manifest } from './manifest.ts';
import type { DatasetStore } from './store.ts';

/** Values of a category column that are told apart, the most frequent first; the rest counts as unknown. */
const dictionaryLimit = 10_000;

/** Prepared rows and what is known about them. */
export interface Prepared {
  /** Its handle is empty until it is given out (handles.ts). */
  readonly info: PreparedData;
  readonly rows: RowStore;
  /** The file's own rows, where they were to be kept. */
  readonly kept?: KeptTable;
}

export interface PrepareRequest {
  readonly store: DatasetStore;
  readonly manifest: Manifest;
  /** The dataset described under `options.settings`. */
  readonly info: DatasetInfo;
  readonly options: PrepareOptions;
  readonly limits: DatabaseLimits;
  readonly job: Job;
}

/** The form of rows that is made of a dataset. Throws InputError `input.form` if it is none of those that are of use. */
export function formOf(
  { kind, name }: Pick<DatasetInfo, 'kind' | 'name'>,
  wanted: readonly RowForm[] = ['matrix', 'pixels'],
): RowForm {
  const found = wanted.find((form) => formsOf[kind].includes(form));
  if (found !== undefined) return found;
  throw new InputError(
    'input.form',
    `${name} holds ${kind === 'images' ? 'pictures' : 'a table'}: this model does not learn from ${kind === 'images' ? 'them' : 'one'}.`,
    'Choose another model.',
  );
}

/**
 * Splits, fits and encodes a dataset.
 * @throws InputError if there is nothing to learn from or too few rows for the splits.
 */
export async function prepareDataset(connection: DuckDBConnection, request: PrepareRequest): Promise<Prepared> {
  const { store, manifest, info, options, limits, job } = request;
  const table = measuredTable(store.dataPath(info.id), info.rows, info.columns.length);
  const target = checkTarget(info);
  const stored = new Map(manifest.columns.map((column) => [column.stored.name, column.stored]));
  const targetColumn = stored.get(target.name) as StoredColumn;
  const classes = info.task === 'classification' ? sortClasses(info.classes.map(({ name }) => name)) : null;

  job.stage('Splitting');
  const texts = options.texts === undefined ? [] : textColumns(info);
  const leftOut = leftOutFor(info, options);
  const unused = new Set(leftOut.map(({ column }) => column));
  const inUse = info.columns
    .filter(({ name }) => !unused.has(name))
    .map((column) => ({ info: column, column: stored.get(column.name) as StoredColumn }));
  const {
    splits,
    counts,
    warnings: ofSplits,
    ...parted
  } = await splitTable(connection, {
    ...{ info, table, stored, target, classes, inUse, options, job },
  });

  job.stage('Fitting the preprocessing');
  const features: FeatureColumn[] = [];
  for (const { column, info: one } of inUse.filter(
    ({ info: { name } }) => name !== target.name && !texts.includes(name),
  )) {
    features.push({ stored: column, info: one, dictionary: await readDictionary(connection, table, column, one) });
  }
  const numericTarget = classes === null ? targetColumn : null;
  const fitted = await fit(connection, { table, features, target: numericTarget, splits, trainRows: counts[0], job });
  const targetRecipe = makeTargetRecipe(targetColumn, classes, fitted.target);
  const read: TextFit[] = [];
  const { texts: choice = {} } = options.settings;
  const keptFor = choice.kept === undefined ? null : keptByColumn(await keptTokens(store.home, choice.kept), texts);
  for (const [i, name] of texts.entries()) {
    const column = stored.get(name) as StoredColumn;
    const kept = keptFor?.[i];
    read.push(await fitText(connection, { table, column, way: options.texts as TextWay, choice, kept, splits, job }));
  }
  const assembled = assemble(
    [...features.map(({ stored: { name } }) => name), ...texts],
    [...fitted.features, ...read.map(({ recipe }) => recipe)],
    targetRecipe,
    leftOut,
  );
  const asIs = formOf(info, options.forms) === 'columns';
  const preprocessing: Preprocessing = {
    ...assembled,
    ...(asIs ? { form: 'columns' } : {}),
    ...(info.reading.units === undefined ? {} : { unitsRow: true }),
  };
  const valueOf = (recipe: FeatureRecipe): string => {
    const column = stored.get(recipe.column) as StoredColumn;
    const value = rawFeature(recipe, column);
    return asIs ? rawCell(recipe, value, typedValue(asFitted(column, recipe), 'category')) : value;
  };

  const wanted = new Set(options.splits ?? splitNames);
  const written = splitNames.map((name, split) => (wanted.has(name) ? counts[split] : 0)) as [number, number, number];
  const { rows, classCounts } = await writeRows(connection, {
    table,
    features: preprocessing.features.map(valueOf),
    target: rawFeature(targetRecipe, targetColumn),
    preprocessing,
    counts: written,
    splitOf: (row) => splits[row] as number,
    store,
    memoryBytes: limits.memoryBytes / 2,
    job,
  });
  const warnings = [
    ...missingTargetWarning(target, info.rows),
    ...read.flatMap((one) => one.warnings),
    ...(await placelessTexts(
      connection,
      table,
      preprocessing.features.map((recipe) => ({ recipe, value: valueOf(recipe) })),
    )),
    ...unreadTexts(info, options),
    ...ofSplits,
  ];
  const sources = sourcesOf(splits, written);
  return { rows, info: { ...describePrepared(preprocessing, written, classCounts, warnings), sources, ...parted } };
}

/** The target's column, if it can be learned. */
function checkTarget(info: DatasetInfo): ColumnInfo {
  const column = info.columns.find(({ name }) => name === info.target);
  if (column === undefined || info.task === null) {
    throw new InputError(
      'input.no_target',
      `${info.source} has no column that can be predicted.`,
      'Choose the target column.',
    );
  }
  const obstacle = obstacleOf(info);
  if (obstacle !== null) throw new InputError(obstacle.code, obstacle.message, obstacle.hint);
  return column;
}

/** Classes in a fixed order: by number if all are numbers, else by their characters. */
function sortClasses(classes: readonly string[]): string[] {
  const numbers = classes.every((name) => name.trim() !== '' && Number.isFinite(Number(name)));
  return [...classes].sort((first, second) => (numbers ? Number(first) - Number(second) : first < second ? -1 : 1));
}

/** The values of a category column. What the profile lists is used if that is all of them. */
async function readDictionary(
  connection: DuckDBConnection,
  table: MeasuredTable,
  column: StoredColumn,
  { type, top = [], distinct }: ColumnInfo,
): Promise<readonly string[]> {
  if (type !== 'category') return [];
  const values = distinct <= top.length ? top : await topOf(connection, table, { column, type }, dictionaryLimit);
  return values.map(({ value }) => value);
}

function makeTargetRecipe(
  column: StoredColumn,
  classes: readonly string[] | null,
  moments: { readonly mean: number; readonly deviation: number } | null,
): TargetRecipe {
  const base = { column: column.name, missing: [...column.missing] };
  const numbers = spellingOf(column);
  if (classes !== null) return { kind: 'classes', ...base, classes: [...classes] };
  const scale = moments !== null && moments.deviation > 0 ? moments.deviation : 1;
  return { kind: 'value', ...base, ...(numbers === undefined ? {} : { numbers }), offset: moments?.mean ?? 0, scale };
}

function assemble(
  features: readonly string[],
  recipes: readonly (Preprocessing['features'][number] | null)[],
  target: TargetRecipe,
  unused: Preprocessing['leftOut'],
): Preprocessing {
  const used = recipes.filter((recipe) => recipe !== null);
  const constant = features.flatMap((column, index) =>
    recipes[index] === null ? [{ column, reason: 'constant in the training split' }] : [],
  );
  const leftOut = [...unused, ...constant];
  if (used.length === 0) {
    const { code, message, hint } = noFeatures(target.column, leftOut);
    throw new InputError(code, message, hint);
  }
  return { version: 1, features: used, target, leftOut };
}

/** Columns that the model does not see: those of texts too, where it reads none. Throws InputError `input.no_features`. */
function leftOutFor(info: DatasetInfo, { texts, learner }: PrepareOptions): LeftOutColumn[] {
  const leftOut = leftOutColumns(info);
  const unread = texts === undefined ? textColumns(info) : [];
  const all = [...leftOut, ...unread.map((column) => ({ column, reason: 'text' }))];
  if (unread.length === 0 || all.length < info.columns.length - 1) return all;
  throw new InputError(
    'input.no_features',
    `${inWords(unread)} ${unread.length === 1 ? 'is' : 'are'} text, which ${learner ?? 'this model'} cannot read, and there is no other column to learn from.`,
    'Train a linear model, which counts the words, or a network, which reads them in their order.',
  );
}

/** Texts that were to be used. */
function unreadTexts(info: DatasetInfo, { texts, learner }: PrepareOptions): DataWarning[] {
  const unread = texts === undefined ? textColumns(info) : [];
  if (unread.length === 0) return [];
  const message = `${inWords(unread)} ${unread.length === 1 ? 'is' : 'are'} left out: ${learner ?? 'this model'} cannot read text. A linear model or a network can.`;
  return [{ code: 'unread_texts', message, columns: unread }];
}

function missingTargetWarning({ name, missing }: ColumnInfo, rows: number): DataWarning[] {
  if (missing === 0) return [];
  return [
    {
      code: 'missing_target',
      message: `${show(missing)} of ${show(rows)} rows have no ${name} and are left out.`,
      columns: [name],
    },
  ];
}
