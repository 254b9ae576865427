// Rows of the table `run` and the records made of them.

import type { NewRun, RunPatch, RunRecord, RunRequest, RunState } from '../protocol/runs.ts';
import type { SeriesSummary } from './metrics.ts';

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
}

export function recordOf(row: RunRow, summaries: readonly SeriesSummary[], hasCheckpoint: boolean): RunRecord {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    dataset: row.dataset,
    datasetName: row.dataset_name,
    config: JSON.parse(row.config),
    device: row.device,
    threads: row.threads,
    parameters: row.parameters,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    progress: parse(row.progress),
    data: parse(row.data),
    last: Object.fromEntries(summaries.map(({ series, last }) => [series, last])),
    best: Object.fromEntries(summaries.flatMap(({ series, best }) => (best ? [[series, best]] : []))),
    result: parse(row.result),
    error: parse(row.error),
    tags: JSON.parse(row.tags),
    notes: row.notes,
    starred: row.starred === 1,
    deletedAt: row.deleted_at,
    hasCheckpoint,
    request: row.request,
  };
}

function parse<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
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
  if (patch.request !== undefined) columns.request = patch.request;
  if (patch.owner !== undefined) {
    columns.owner_pid = patch.owner.pid;
    columns.owner_started_at = patch.owner.startedAt;
  }
  return columns;
}

/** What searching looks in: the words of a run that a person may remember. */
export function searchText(
  run: Pick<NewRun, 'name' | 'datasetName' | 'config'> & Pick<RunRecord, 'tags' | 'notes'>,
): string {
  const preset = run.config.model.preset ?? '';
  return foldCase([run.name, run.datasetName, preset, ...run.tags, run.notes].join('\n'));
}

/** The same text for what people take as the same: SQLite itself folds the case of ASCII letters only. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
