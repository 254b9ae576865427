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
import { formsOf, leftOutColumns, inWords, splitNames, textColumns, usualSplit } from '../protocol/use.ts';
import type { DatabaseLimits } from './database.ts';
import { streamNumbers } from './database.ts';
import type { Job } from './jobs.ts';
import type { KeptTable } from './kept-table.ts';
import { keptByColumn, keptTokens } from './kept-tokens.ts';
import { categoryCode, rawCell, rawFeature } from './preprocess/features.ts';
import { fit } from './preprocess/fit.ts';
import { fitText, type TextFit } from './preprocess/fit-texts.ts';
import type { FeatureColumn } from './preprocess/fit.ts';
import { placelessTexts } from './preprocess/placeless-of-file.ts';
import { asFitted } from './preprocess/recipe.ts';
import type { FeatureRecipe, Preprocessing, TargetRecipe } from './preprocess/recipe.ts';
import type { RowStore } from './preprocess/row-store.ts';
import { classSplitWarnings, refuseOneClass, refuseOneClassApart } from './preprocess/class-splits.ts';
import { assignFold, sharesOfFold } from './preprocess/folds.ts';
import { splitByColumn } from './preprocess/ordered-split.ts';
import { partRows, usualParts } from './preprocess/parts.ts';
import { assignSplits, leftOut as inNoSplit } from './preprocess/split.ts';
import { describePrepared, writeRows } from './preprocess/write-rows.ts';
import { measuredTable } from './schema/table.ts';
import type { MeasuredTable } from './schema/table.ts';
import { topOf } from './schema/measure.ts';
import { findCopies } from './schema/copies.ts';
import { numericValue, spellingOf, typedValue } from './schema/stored.ts';
import type { StoredColumn } from './schema/stored.ts';
import { noFeatures, obstacleOf } from './schema/learnable.ts';
import { show } from './schema/typing.ts';
import type { Manifest } from './manifest.ts';
import type { DatasetStore } from './store.ts';

/** With more rows it is the split that is to blame. */
const fewRows = 100;
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
  const shares = checkShares(options.settings.split ?? usualSplit);
  const target = checkTarget(info);
  const stored = new Map(manifest.columns.map((column) => [column.stored.name, column.stored]));
  const targetColumn = stored.get(target.name) as StoredColumn;
  const classes = info.task === 'classification' ? sortClasses(info.classes.map(({ name }) => name)) : null;

  job.stage('Splitting');
  const strata = await readStrata(connection, table, targetColumn, classes, job);
  const texts = options.texts === undefined ? [] : textColumns(info);
  const leftOut = leftOutFor(info, options);
  const unused = new Set(leftOut.map(({ column }) => column));
  const inUse = info.columns
    .filter(({ name }) => !unused.has(name))
    .map((column) => ({ info: column, column: stored.get(column.name) as StoredColumn }));
  const copies = await findCopies(connection, table, inUse, job);
  const { splitBy, fold, joined } = options.settings;
  const {
    splits,
    keys,
    warnings: splitWarnings,
  } = splitBy === undefined
    ? {
        keys: null,
        splits: splitByChance(strata, copies, (alone) =>
          fold === undefined
            ? assignSplits(alone, classes?.length ?? 1, shares, options.seed)
            : assignFold(alone, classes, shares, options.seed, fold),
        ),
        warnings: [],
      }
    : await splitByColumn(connection, table, splitBy, splitColumn(info, stored, splitBy.column), {
        strata,
        shares,
        seed: options.seed,
        fold,
        job,
      });
  // Its test rows are those of any other model on the same split.
  if (joined) splits.forEach((split, row) => split === 1 && (splits[row] = 0));
  const partsOf = (): Uint8Array => {
    const trained = strata.map((stratum, row) => (splits[row] === 0 ? stratum : -1));
    const outputs = classes === null || classes.length === 2 ? 1 : classes.length;
    const parts = partRows({
      ...{ strata: trained, classes: classes?.length ?? 1, copies, seed: options.seed },
      ...(splitBy && keys ? { by: { ...splitBy, keys } } : {}),
      parts: options.parts || usualParts(counts[0], outputs),
    });
    return parts.filter((_, row) => splits[row] === 0);
  };
  const counts = countSplits(splits);
  const [train, validation, test] = sharesOfFold(shares, fold);
  checkCounts(counts, joined ? [train + validation, 0, test] : [train, validation, test], info.rows - target.missing);
  const ofClasses = classes && { strata, splits, classes, target: target.name };
  // A run that learned from such rows may still be looked at.
  const trains = options.splits === undefined;
  if (ofClasses && trains) refuseOneClass(ofClasses);
  const parted = options.parts === undefined ? {} : { parts: partsOf() };
  if (ofClasses && trains && parted.parts) refuseOneClassApart(ofClasses, parted.parts);

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
  const together = splitBy === undefined ? keptTogether(copies, splits) : [];
  const warnings = [
    ...missingTargetWarning(target, info.rows),
    ...read.flatMap((one) => one.warnings),
    ...(await placelessTexts(
      connection,
      table,
      preprocessing.features.map((recipe) => ({ recipe, value: valueOf(recipe) })),
    )),
    ...unreadTexts(info, options),
    ...splitWarnings,
    ...(ofClasses ? classSplitWarnings(ofClasses) : []),
    ...together,
    ...sharedRows(copies, splits),
  ];
  const sources = sourcesOf(splits, written);
  return { rows, info: { ...describePrepared(preprocessing, written, classCounts, warnings), sources, ...parted } };
}

/** The row of the table behind each prepared row: split by split, in the table's order; splits that count no rows have none. */
function sourcesOf(splits: Uint8Array, counts: readonly [number, number, number]): Uint32Array {
  const sources = new Uint32Array(counts[0] + counts[1] + counts[2]);
  const next = [0, counts[0], counts[0] + counts[1]];
  splits.forEach((split, row) => {
    const place = next[split];
    if (place === undefined || counts[split] === 0) return;
    sources[place] = row;
    next[split] = place + 1;
  });
  return sources;
}

/** Rows drawn by chance, each with its copies: `assign` draws for those that are no copy of an earlier one. */
function splitByChance(
  strata: Int32Array,
  copies: Int32Array | null,
  assign: (strata: Int32Array) => Uint8Array,
): Uint8Array {
  if (copies === null) return assign(strata);
  const splits = assign(strata.map((stratum, row) => (copies[row] === row ? stratum : -1)));
  return splits.map((split, row) => ((strata[row] ?? -1) < 0 ? inNoSplit : (splits[copies[row] as number] ?? split)));
}

function splitColumn(
  info: DatasetInfo,
  stored: ReadonlyMap<string, StoredColumn>,
  name: string,
): { info: ColumnInfo; column: StoredColumn } {
  const column = info.columns.find((one) => one.name === name);
  const found = stored.get(name);
  if (column === undefined || found === undefined) throw new RangeError(`no column ${name}`);
  return { info: column, column: found };
}

export function checkShares(shares: readonly [number, number, number]): readonly [number, number, number] {
  const sum = shares[0] + shares[1] + shares[2];
  if (shares.length === 3 && shares.every((share) => share >= 0) && shares[0] > 0 && Math.abs(sum - 1) < 1e-6)
    return shares;
  throw new InputError(
    'input.split',
    `The split ${shares.join(', ')} cannot be used: three shares that add up to 1 are needed, the first above 0.`,
    'For example 0.8, 0.1, 0.1.',
  );
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

/** Class of each row (0 for all in regression); −1 = no target. */
async function readStrata(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: StoredColumn,
  classes: readonly string[] | null,
  job: Job,
): Promise<Int32Array> {
  const strata = new Int32Array(table.rows);
  const value = classes === null ? numericValue(target, 'number') : categoryCode(target, classes);
  let start = 0;
  await streamNumbers(connection, `SELECT ${value} FROM ${table.from}`, job, ([column], rows) => {
    for (let row = 0; row < rows; row++) {
      const found = column?.getItem(row) ?? null;
      strata[start + row] = found === null ? -1 : classes === null ? 0 : found - 1;
    }
    start += rows;
  });
  return strata;
}

function countSplits(splits: Uint8Array): [number, number, number] {
  const counts = [0, 0, 0, 0];
  for (const split of splits) counts[split] = (counts[split] ?? 0) + 1;
  return [counts[0] ?? 0, counts[1] ?? 0, counts[2] ?? 0];
}

function checkCounts(counts: readonly number[], shares: readonly number[], usable: number): void {
  const needed = [2, 1, 1];
  const short = splitNames.filter(
    (_, index) => (shares[index] ?? 0) > 0 && (counts[index] ?? 0) < (needed[index] ?? 1),
  );
  if (short.length === 0) return;
  const percent = shares.map((share) => `${Number((share * 100).toPrecision(3))} %`).join(' / ');
  throw new InputError(
    'input.too_few_rows',
    usable < fewRows
      ? `${show(usable)} ${usable === 1 ? 'row is' : 'rows are'} too few for a split of ${percent}: too little is left for ${short.join(' and ')}.`
      : `A split of ${percent} leaves too little of ${show(usable)} rows for ${short.join(' and ')}.`,
    usable < fewRows ? 'Add rows, or change the split.' : 'Give every split a share of the rows.',
  );
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

/** Rows of other splits that are copies of one in the training split. */
function sharedRows(copies: Int32Array | null, splits: Uint8Array): DataWarning[] {
  if (copies === null) return [];
  const trains = new Set<number>();
  copies.forEach((first, row) => splits[row] === 0 && trains.add(first));
  const shared = [...copies.keys()].filter((row) => {
    const split = splits[row];
    return split !== 0 && split !== inNoSplit && trains.has(copies[row] as number);
  });
  if (shared.length === 0) return [];
  return [
    {
      code: 'shared_rows',
      message: `${show(shared.length)} ${shared.length === 1 ? 'row' : 'rows'} of the validation and test splits also ${shared.length === 1 ? 'stands' : 'stand'} in the training split: results look better than they are.`,
      rows: shared.slice(0, 10).map((row) => row + 1),
    },
  ];
}

/** How many rows follow their copies into a split. */
function keptTogether(copies: Int32Array | null, splits: Uint8Array): DataWarning[] {
  const kept =
    copies?.reduce((count, first, row) => count + Number(first !== row && splits[row] !== inNoSplit), 0) ?? 0;
  if (kept === 0) return [];
  const message = `${show(kept)} ${kept === 1 ? 'row is a copy of another one and stays' : 'rows are copies of others and stay'} in its split.`;
  return [{ code: 'copies', message: kept === 1 ? message : message.replace('its split', 'their splits') }];
}
