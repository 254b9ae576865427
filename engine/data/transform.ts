// A finished run's preprocessing applied to another file. Nothing goes wrong in silence: the file's own way of writing is
// found out, what cannot be used is counted column by column, and a column of which nothing can be used is refused.

import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, FileMatching } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { ownValue } from '../protocol/own.ts';
import { copyTable } from './copy.ts';
import type { CopiedTable } from './copy.ts';
import type { DatabaseLimits } from './database.ts';
import type { TrainingFile } from './formats/format.ts';
import { inspectPath, readHead, refuseFolder } from './files.ts';
import type { Job } from './jobs.ts';
import { KeptTable, stampOf } from './kept-table.ts';
import type { Prepared } from './prepare.ts';
import { describeUse, refuseUnusable } from './preprocess/losses.ts';
import { CutTexts } from './preprocess/cut-texts.ts';
import { rawCell } from './preprocess/features.ts';
import { bareName } from './preprocess/forms.ts';
import { likeOthers } from './preprocess/likeness.ts';
import { absentColumn, matchColumns } from './preprocess/match.ts';
import { findColumns, renamed, requireColumns, valuesOf, withoutColumns } from './preprocess/match-names.ts';
import { describeMatch, reasonsOf } from './preprocess/match-words.ts';
import { placelessTexts } from './preprocess/placeless-of-file.ts';
import { parsePreprocessing, textFeatures } from './preprocess/recipe.ts';
import type { Preprocessing } from './preprocess/recipe.ts';
import { spreadsOfFile } from './preprocess/spread-of-file.ts';
import { describePrepared, writeRows } from './preprocess/write-rows.ts';
import { spellColumns } from './schema/analyse.ts';
import type { StoredColumn } from './schema/stored.ts';
import type { DatasetStore } from './store.ts';
import { readTextFolder } from './text-folder.ts';

/** Bytes that DuckDB may hold while a file is predicted, and prepared rows a part of it; the rest is on the disk. */
const mostMemory = 2 ** 28;
/** Of that for prepared rows. */
const rowsShare = 4;

export interface TransformRequest {
  readonly store: DatasetStore;
  readonly limits: DatabaseLimits;
  readonly path: string;
  readonly preprocessing: unknown;
  /** Go on although nothing of a column can be used. */
  readonly force: boolean;
  /** See `DataService.transform`. */
  readonly match?: FileMatching;
  readonly report?: boolean;
  readonly keep?: boolean;
  readonly job: Job;
}

/**
 * Applies fitted preprocessing to another file. All rows, in the file's order, count as `test`.
 * @throws InputError if the file cannot be read, lacks a column the model needs, or has one that cannot be used.
 */
export async function transformFile(request: TransformRequest): Promise<Prepared> {
  const { memoryBytes } = request.limits;
  const little = Math.min(memoryBytes, mostMemory);
  // Rows are read once, from beginning to end: more memory would make nothing quicker.
  return transformWithin({ ...request, limits: { ...request.limits, memoryBytes: little } }).catch((error: unknown) => {
    // A cell of a hundred megabytes takes it.
    if (little < memoryBytes && error instanceof InputError && error.code === 'input.memory') {
      return transformWithin(request);
    }
    throw error;
  });
}

async function transformWithin(request: TransformRequest): Promise<Prepared> {
  const { store, limits, path, force, job, match, report = false } = request;
  const preprocessing = parsePreprocessing(request.preprocessing);
  const { features, target } = preprocessing;
  const like = { units: preprocessing.unitsRow === true, texts: textsOf(preprocessing, match) };
  const found = await inspectPath(path);
  if (found.folder && textFeatures(preprocessing).length === 0) throw refuseFolder(found.name);
  const before = await stampOf(found.path);
  const workFolder = await store.makeAnyWorkFolder();
  let kept = false;
  try {
    const files = found.folder ? await readTextFolder(found, { workFolder, job, classes: false }) : null;
    if (found.folder && files === null) throw refuseFolder(found.name);
    const head = files?.head ?? (await readHead(found.path, found.name, found.size));
    const made = await copyTable(
      { head, options: {}, workFolder, limits, job, like },
      async ({ connection }, copied) => {
        const { table, columns } = copied;
        const names = columns.map(({ name }) => name);
        const sources = findColumns(names, preprocessing, match);
        if (!report) requireColumns(found.name, names, sources, match);
        job.stage('Looking at the columns');
        const needed = new Set([...sources.values(), target.column]);
        const byName = await spellNeeded(connection, copied, needed);
        const present = features.filter(({ column }) => byName.has(sources.get(column) ?? ''));
        const recipes = byName.has(target.column) ? [...present, target] : present;
        const matched = await matchColumns(
          connection,
          table,
          recipes.map((recipe) => ({
            recipe,
            column: byName.get(sources.get(recipe.column) ?? recipe.column) as StoredColumn,
            values: valuesOf(match, recipe.column),
          })),
        );
        const matchedBy = new Map(matched.slice(0, present.length).map((column) => [column.recipe.column, column]));
        const used = features.map((recipe) => matchedBy.get(recipe.column) ?? absentColumn(recipe, table.rows));
        job.throwIfCancelled();
        const without = withoutColumns(match);
        const asked = used.filter(({ recipe }) => !without.has(recipe.column));
        if (!force && !report) await refuseUnusable(connection, table, found.name, asked);
        const { uses, warnings } = await describeUse(connection, table, used);
        warnings.push(...likeOthers(await spreadsOfFile(connection, table, matched.slice(0, present.length))));
        warnings.push(...(await placelessTexts(connection, table, used)));
        const truth = matched.slice(present.length).filter(({ unknown }) => unknown > 0);
        warnings.push(...(await describeUse(connection, table, truth)).warnings);
        const fileMatch =
          match === undefined
            ? undefined
            : await describeMatch(connection, table, { used, sources, names, without, target });
        const cut = new CutTexts(preprocessing);
        const { rows, classCounts } = await writeRows(connection, {
          table,
          features: used.map(({ value, cell }, index) =>
            preprocessing.form === 'columns' ? rawCell(features[index], value, cell) : value,
          ),
          target: matched[present.length]?.value ?? null,
          preprocessing,
          counts: [0, 0, table.rows],
          splitOf: () => 2,
          watch: (...chunk) => cut.watch(...chunk),
          store,
          memoryBytes: limits.memoryBytes / rowsShare,
          job,
        });
        const all = [
          ...(files?.warnings ?? []),
          ...copied.warnings,
          ...renamed(sources),
          ...missingTarget(names, preprocessing),
          ...warnings,
          ...cut.warnings,
        ];
        const info = describePrepared(preprocessing, [0, 0, table.rows], classCounts, all);
        const reasons = reasonsOf(used.filter((column) => matchedBy.has(column.recipe.column)));
        const read = used.map(({ value, cell }, index) => ({ recipe: features[index], value, cell }));
        const told = {
          ...info,
          columns: uses,
          ...(fileMatch && { match: fileMatch }),
          ...(target.kind === 'classes' && truth.length > 0 && { foreignTruth: truth[0].unknown }),
        };
        return { kept: { copied, features: read, reasons }, rows, info: told };
      },
    );
    const { rows, info } = made;
    if (request.keep !== true) return { rows, info };
    const { texts } = made.kept.copied;
    const stamp = texts && (texts.path === found.path ? before : await stampOf(texts.path));
    const table = await KeptTable.open({
      ...{ ...made.kept, workFolder, output: info.output, limits },
      ...(texts && stamp && { texts: { ...texts, stamp } }),
    });
    kept = true;
    return { rows, info, kept: table };
  } finally {
    if (!kept) await rm(workFolder, { recursive: true, force: true });
  }
}

/** Columns of a file that are read as texts, by their bare names: those of the model, or the ones a person says. */
function textsOf(preprocessing: Preprocessing, match?: FileMatching): TrainingFile['texts'] {
  return new Map(
    textFeatures(preprocessing).map(({ column, exact = false }) => [
      bareName(ownValue(match?.columns ?? {}, column) ?? column),
      { exact },
    ]),
  );
}

/** The columns that are needed, with the file's own spellings. */
async function spellNeeded(
  connection: DuckDBConnection,
  { table, columns, decimal }: CopiedTable,
  needed: ReadonlySet<string | null>,
): Promise<ReadonlyMap<string, StoredColumn>> {
  const spelled = await spellColumns(
    connection,
    table,
    columns.filter(({ name }) => needed.has(name)),
    decimal,
  );
  return new Map(spelled.map((column) => [column.name, column]));
}

/** A file need not have the target, but then it is not measured how good the predictions are. */
function missingTarget(names: readonly string[], { features, target }: Preprocessing): DataWarning[] {
  if (names.includes(target.column)) return [];
  const needed = new Set(features.map(({ column }) => column));
  const near = names.find((name) => !needed.has(name) && bareName(name) === bareName(target.column));
  if (near === undefined) return [];
  const message = `There is a column "${near}", but none "${target.column}": how good the predictions are is not measured.`;
  return [{ code: 'missing_target', message, columns: [near] }];
}
