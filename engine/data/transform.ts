// A finished run's preprocessing applied to another file. Nothing goes wrong in silence: the file's own way of writing is
// found out, what cannot be used is counted column by column, and a column of which nothing can be used is refused.

import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../protocol/errors.ts';
import type { DataWarning } from '../protocol/data.ts';
import { closest } from './closest.ts';
import { copyTable } from './copy.ts';
import type { CopiedTable } from './copy.ts';
import type { DatabaseLimits } from './database.ts';
import { inspectPath, readHead, refuseFolder } from './files.ts';
import type { Job } from './jobs.ts';
import type { Prepared } from './prepare.ts';
import { describeUse, refuseUnusable } from './preprocess/losses.ts';
import { rawCell } from './preprocess/features.ts';
import { matchColumns } from './preprocess/match.ts';
import { parsePreprocessing } from './preprocess/recipe.ts';
import type { Preprocessing } from './preprocess/recipe.ts';
import { describePrepared, writeRows } from './preprocess/write-rows.ts';
import { spellColumns } from './schema/analyse.ts';
import type { StoredColumn } from './schema/stored.ts';
import type { DatasetStore } from './store.ts';

export interface TransformRequest {
  readonly store: DatasetStore;
  readonly limits: DatabaseLimits;
  readonly path: string;
  readonly preprocessing: unknown;
  /** Go on although nothing of a column can be used. */
  readonly force: boolean;
  readonly job: Job;
}

/**
 * Applies fitted preprocessing to another file. All rows, in the file's order, count as `test`.
 * @throws InputError if the file cannot be read, lacks a column the model needs, or has one that cannot be used.
 */
export async function transformFile(request: TransformRequest): Promise<Omit<Prepared, 'handle'>> {
  const { store, limits, path, force, job } = request;
  const preprocessing = parsePreprocessing(request.preprocessing);
  const { features, target } = preprocessing;
  const like = { units: preprocessing.unitsRow === true };
  const found = await inspectPath(path);
  if (found.folder) throw refuseFolder(found.name);
  const head = await readHead(found.path, found.name, found.size);
  const workFolder = await store.makeAnyWorkFolder();
  try {
    return await copyTable({ head, options: {}, workFolder, limits, job, like }, async ({ connection }, copied) => {
      const { table, columns } = copied;
      const names = columns.map(({ name }) => name);
      requireColumns(found.name, names, preprocessing);
      job.stage('Looking at the columns');
      const byName = await spellNeeded(connection, copied, preprocessing);
      const recipes = byName.has(target.column) ? [...features, target] : features;
      const matched = await matchColumns(
        connection,
        table,
        recipes.map((recipe) => ({ recipe, column: byName.get(recipe.column) as StoredColumn })),
      );
      const used = matched.slice(0, features.length);
      job.throwIfCancelled();
      if (!force) await refuseUnusable(connection, table, found.name, used);
      const { uses, warnings } = await describeUse(connection, table, used);
      const truth = matched.slice(features.length).filter(({ unknown }) => unknown > 0);
      warnings.push(...(await describeUse(connection, table, truth)).warnings);
      const { rows, classCounts } = await writeRows(connection, {
        table,
        features: used.map(({ value, cell }, index) =>
          preprocessing.form === 'columns' ? rawCell(features[index], value, cell) : value,
        ),
        target: matched[features.length]?.value ?? null,
        preprocessing,
        counts: [0, 0, table.rows],
        splitOf: () => 2,
        store,
        memoryBytes: limits.memoryBytes / 2,
        job,
      });
      const all = [...copied.warnings, ...missingTarget(names, preprocessing), ...warnings];
      return {
        rows,
        info: { ...describePrepared(preprocessing, [0, 0, table.rows], classCounts, all), columns: uses },
      };
    });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

/** The columns that are needed, with the file's own spellings. */
async function spellNeeded(
  connection: DuckDBConnection,
  { table, columns, decimal }: CopiedTable,
  { features, target }: Preprocessing,
): Promise<ReadonlyMap<string, StoredColumn>> {
  const needed = new Set([...features, target].map(({ column }) => column));
  const spelled = await spellColumns(
    connection,
    table,
    columns.filter(({ name }) => needed.has(name)),
    decimal,
  );
  return new Map(spelled.map((column) => [column.name, column]));
}

function requireColumns(file: string, names: readonly string[], { features }: Preprocessing): void {
  const needed = features.map(({ column }) => column);
  const lacking = needed.filter((column) => !names.includes(column));
  if (lacking.length === 0) return;
  const quoted = lacking.slice(0, 8).map((column) => `"${column}"`);
  const listed = quoted.join(', ') + (lacking.length > 8 ? ` and ${lacking.length - 8} more` : '');
  const spare = names.filter((name) => !needed.includes(name));
  const near = lacking.flatMap((column) => {
    const name = nearest(column, spare);
    return name === null ? [] : [lacking.length === 1 ? `"${name}"` : `"${name}" for "${column}"`];
  });
  throw new InputError(
    'input.missing_column',
    `${file} lacks ${lacking.length === 1 ? 'a column' : 'columns'} the model was trained on: ${listed}.`,
    near.length > 0
      ? `Did you mean ${near.slice(0, 8).join(', ')}?`
      : `Its columns are: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' …' : ''}.`,
  );
}

/** The name that is the same but for case and marks, else the nearest. */
function nearest(column: string, names: readonly string[]): string | null {
  return names.find((name) => bare(name) === bare(column)) ?? closest(column, names);
}

function bare(name: string): string {
  const letters = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_.-]+/g, '');
  return letters === '' ? name : letters;
}

/** A file need not have the target, but then it is not measured how good the predictions are. */
function missingTarget(names: readonly string[], { features, target }: Preprocessing): DataWarning[] {
  if (names.includes(target.column)) return [];
  const needed = new Set(features.map(({ column }) => column));
  const near = names.find((name) => !needed.has(name) && bare(name) === bare(target.column));
  if (near === undefined) return [];
  const message = `There is a column "${near}", but none "${target.column}": how good the predictions are is not measured.`;
  return [{ code: 'missing_target', message, columns: [near] }];
}
