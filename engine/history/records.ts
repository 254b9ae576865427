// Rows of the table `run` and the records made of them.

import type { NewRun, RecordField, RunPatch } from '../protocol/store.ts';
import { runRelations } from '../protocol/family.ts';
import type { RunRelation } from '../protocol/family.ts';
import { runStates, type RunConfig, type RunRecord, type RunRequest, type RunState } from '../protocol/runs.ts';
import { z } from 'zod';
import { declarationOf, settingGroups } from '../learners/declared/registry.ts';
import { runFields } from '../settings/run.ts';
import { settingFacts } from '../settings/values.ts';
import { sha256 } from './checksums.ts';
import { upgradeConfig } from './configs.ts';
import type { SeriesSummary } from './metrics.ts';
import { readConfig, readError, readJson, type JsonColumn } from './readable.ts';

export interface RunRow {
  readonly id: number;
  readonly name: string;
  readonly state: RunState;
  readonly dataset: string;
  readonly dataset_name: string;
  readonly device: string;
  readonly threads: number;
  readonly parameters: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly deleted_at: number | null;
  readonly revision: number;
  readonly starred: number;
  readonly request: RunRequest | null;
  readonly owner_pid: number;
  readonly owner_started_at: number;
  readonly tags: string;
  readonly notes: string;
  readonly config: string;
  readonly progress: string | null;
  readonly data: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly parent: number | null;
  readonly relation: RunRelation | null;
  readonly start: string | null;
  readonly group: string | null;
  readonly columns: string | null;
  readonly origin: string | null;
  readonly queue: string | null;
}

/** All that a record is made of. */
export interface RunSource {
  readonly row: RunRow;
  readonly summaries: readonly SeriesSummary[];
  readonly hasCheckpoint: () => boolean;
}

const readers: { readonly [Field in keyof RunRecord]: (source: RunSource) => RunRecord[Field] } = {
  id: ({ row }) => row.id,
  name: ({ row }) => row.name,
  state: ({ row }) => row.state,
  dataset: ({ row }) => row.dataset,
  datasetName: ({ row }) => row.dataset_name,
  config: ({ row }) => readConfig(row),
  device: ({ row }) => row.device,
  threads: ({ row }) => row.threads,
  parameters: ({ row }) => row.parameters,
  createdAt: ({ row }) => row.created_at,
  startedAt: ({ row }) => row.started_at,
  endedAt: ({ row }) => row.ended_at,
  progress: ({ row }) => read(row, 'progress'),
  data: ({ row }) => read(row, 'data'),
  last: ({ summaries }) => Object.fromEntries(summaries.map(({ series, last }) => [series, last])),
  best: ({ summaries }) => Object.fromEntries(summaries.flatMap(({ series, best }) => (best ? [[series, best]] : []))),
  result: ({ row }) => read(row, 'result'),
  error: ({ row }) => readError(row),
  tags: ({ row }) => read<readonly string[]>(row, 'tags') ?? [],
  notes: ({ row }) => row.notes,
  starred: ({ row }) => row.starred === 1,
  deletedAt: ({ row }) => row.deleted_at,
  hasCheckpoint: ({ hasCheckpoint }) => hasCheckpoint(),
  request: ({ row }) => row.request,
  parent: ({ row }) => row.parent,
  relation: ({ row }) => row.relation,
  start: ({ row }) => read(row, 'start'),
  group: ({ row }) => row.group,
  origin: ({ row }) => read(row, 'origin'),
  queue: ({ row }) => read(row, 'queue'),
};

/** The chosen fields of a record; the others are not even read. */
export function recordOf<Field extends RecordField>(
  source: RunSource,
  fields: readonly Field[],
): Pick<RunRecord, Field> {
  return Object.fromEntries(fields.map((field) => [field, readers[field](source)])) as Pick<RunRecord, Field>;
}

function read<Value>(row: RunRow, column: JsonColumn): Value | null {
  return readJson(column, row[column]) as Value | null;
}

function stringify(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The columns a patch sets, with their new values. */
export function columnsOf(patch: RunPatch): Readonly<Record<string, string | number | null>> {
  const columns: Record<string, string | number | null> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.state !== undefined) columns.state = patch.state;
  if (patch.config !== undefined) columns.config = JSON.stringify(patch.config);
  if (patch.device !== undefined) columns.device = patch.device;
  if (patch.threads !== undefined) columns.threads = patch.threads;
  if (patch.parameters !== undefined) columns.parameters = patch.parameters;
  if (patch.startedAt !== undefined) columns.started_at = patch.startedAt;
  if (patch.endedAt !== undefined) columns.ended_at = patch.endedAt;
  if (patch.progress !== undefined) columns.progress = stringify(patch.progress);
  if (patch.data !== undefined) columns.data = JSON.stringify(patch.data);
  if (patch.result !== undefined) columns.result = stringify(patch.result);
  if (patch.error !== undefined) columns.error = stringify(patch.error);
  if (patch.tags !== undefined) columns.tags = JSON.stringify(patch.tags);
  if (patch.notes !== undefined) columns.notes = patch.notes;
  if (patch.starred !== undefined) columns.starred = patch.starred ? 1 : 0;
  if (patch.group !== undefined) columns.group = patch.group;
  if (patch.request !== undefined) columns.request = patch.request;
  if (patch.queue !== undefined) columns.queue = stringify(patch.queue);
  if (patch.owner !== undefined) {
    columns.owner_pid = patch.owner.pid;
    columns.owner_started_at = patch.owner.startedAt;
  }
  return columns;
}

/** What searching looks in: the words of a run that a person may remember, its columns and its settings. */
export function searchText(run: SearchedRun): string {
  const { config } = run;
  const declaration = declarationOf(config);
  const { target, ignored = [] } = config.settings;
  const words = [
    run.name,
    run.datasetName,
    declaration.preset(config) ?? '',
    run.group ?? '',
    ...run.tags,
    run.notes,
    ...new Set([...(target === undefined ? [] : [target]), ...ignored, ...run.columns]),
    declaration.title,
    ...settingWords(config),
  ];
  return foldCase(words.join('\n'));
}

export type SearchedRun = Pick<NewRun, 'name' | 'datasetName' | 'config'> &
  Pick<RunRecord, 'tags' | 'notes' | 'group'> & {
    /** Names of those it learned from, as far as they are known. */
    readonly columns: readonly string[];
  };

/** Settings as people read them, those that have an effect and are not as they need not be said: `Learning rate 0.001`, `dense 64`. */
function settingWords(config: RunConfig): readonly string[] {
  const groups = settingGroups(config).flatMap(({ table, settings }) => settingFacts(table, settings, String));
  const facts = [...groups, ...settingFacts(runFields, config, String)];
  const layers = declarationOf(config).layers?.(config) ?? [];
  return [
    ...facts.flatMap(({ label, value, quiet }) => (quiet ? [] : [`${label} ${value}`])),
    ...new Set(layers.map((layer) => Object.values(layer).filter(isPlain).join(' '))),
  ];
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** The same text for what people take as the same: SQLite itself folds the case of ASCII letters only. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

const json = z.string().refine(isJson);
const config = json.transform(upgradeConfig);
const time = z.int().nullable();

/** A row as the database takes it; columns of later versions have defaults. */
const rowSchema = z.strictObject({
  id: z.int().min(1),
  name: z.string(),
  state: z.enum(runStates),
  dataset: z.string(),
  dataset_name: z.string(),
  device: z.string(),
  threads: z.int(),
  parameters: z.int(),
  created_at: z.int(),
  started_at: time,
  ended_at: time,
  deleted_at: time,
  starred: z.int().min(0).max(1),
  request: z.enum(['pause', 'resume', 'stop']).nullable(),
  owner_pid: z.int(),
  owner_started_at: z.int(),
  revision: z.int(),
  search: z.string(),
  tags: json,
  notes: z.string(),
  config,
  progress: json.nullable(),
  result: json.nullable(),
  error: json.nullable(),
  data: json.nullable().default(null),
  parent: z.int().min(1).nullable().default(null),
  relation: z.enum(runRelations).nullable().default(null),
  start: json.nullable().default(null),
  group: z.string().nullable().default(null),
  columns: json.nullable().default(null),
  origin: json.nullable().default(null),
  queue: json.nullable().default(null),
} satisfies Record<keyof RunRow | 'search', z.ZodType>);

export type WholeRow = z.infer<typeof rowSchema>;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A row that comes from elsewhere than our own database; null if it is none. */
export function parseRow(value: unknown): WholeRow | null {
  return rowSchema.safeParse(value).data ?? null;
}

/** A row as the folder of its run keeps it, with a checksum. */
export function encodeRecord(row: RunRow): string {
  const text = JSON.stringify(row);
  return JSON.stringify({ version: 1, check: sha256(text), row });
}

/** null: this is none, or a damaged one. */
export function decodeRecord(text: string): WholeRow | null {
  try {
    const { version, check, row } = JSON.parse(text) as { version: unknown; check: unknown; row: unknown };
    return version === 1 && check === sha256(JSON.stringify(row)) ? parseRow(row) : null;
  } catch {
    return null;
  }
}
