// The table of runs: creating, changing, finding. What writes stands within a transaction of the caller.

import { InputError, TrainyardError } from '../protocol/errors.ts';
import { recordFields } from '../protocol/store.ts';
import type { BilledRun, RunBill } from '../protocol/bill.ts';
import type { FoundRuns, NewRun, RecordField, RunGroup, RunPatch, RunQuery } from '../protocol/store.ts';
import type { RunRecord, RunState } from '../protocol/runs.ts';
import type { Connection } from './database.ts';
import type { RunFiles } from './files.ts';
import type { MetricsTable } from './metrics.ts';
import { sqlOf } from './query.ts';
import { columnsOf, recordOf, searchText } from './records.ts';
import type { RunRow } from './records.ts';
import { nextRevision } from './revisions.ts';

export interface RunsTable {
  /** Returns the new run's number. */
  create(run: NewRun): number;
  /** Throws `run.changed` if the run is in none of the states `when`. */
  update(run: number, patch: RunPatch, when?: readonly RunState[]): void;
  /** Sets columns of the row as they are; none at all only marks the run as changed. Returns the row's new revision. */
  set(run: number, columns: Readonly<Record<string, string | number | null>>): number;
  /** Throws `input.unknown_run`. */
  row(run: number): RunRow;
  record(run: number): RunRecord;
  records(rows: readonly RunRow[]): readonly RunRecord[];
  find<Field extends RecordField = RecordField>(query: RunQuery<Field>): FoundRuns<Field>;
  /** Keeps the names of the columns that a run learned from. Within a transaction. */
  setColumns(run: number, columns: readonly string[]): void;
  /** Groups that runs outside the trash belong to, by name. */
  groups(): readonly RunGroup[];
  /** Tags of runs that are not in the trash, most used first. */
  tags(): readonly string[];
  /** What every run has cost that has begun, oldest first; a cross-validation costs what its folds do, members nothing of their own. */
  bills(): readonly BilledRun[];
  /** These runs, the folds of those that are cross-validations, and the members of ensembles. */
  withFolds(runs: readonly number[]): readonly number[];
  inStates(states: readonly RunState[]): readonly RunRow[];
  /** Of some runs, or of all (null), those in the trash since before `before`. */
  trashed(runs: readonly number[] | null, before: number): readonly number[];
  remove(runs: readonly number[]): void;
}

const insertRun = `
  INSERT INTO run (
    name, state, dataset, dataset_name, created_at, owner_pid, owner_started_at, revision, search, config, parent, relation, start
  ) VALUES (
    @name, 'queued', @dataset, @datasetName, @createdAt, @pid, @startedAt, @revision, @search, @config, @parent, @relation, @start
  )
  RETURNING id`;
const readRun = 'SELECT * FROM run WHERE id = ?';
const runsInStates = 'SELECT * FROM run WHERE state IN (SELECT value FROM json_each(?)) ORDER BY id';
const usedTags = `
  SELECT tag.value AS tag FROM run, json_each(run.tags) AS tag WHERE run.deleted_at IS NULL
  GROUP BY tag.value ORDER BY count(*) DESC, tag.value`;
const usedGroups = `
  SELECT "group" AS name, count(*) AS runs FROM run WHERE "group" IS NOT NULL AND deleted_at IS NULL
  GROUP BY "group" ORDER BY "group" COLLATE NOCASE`;
const billedRuns = `
  SELECT id, device, started_at, progress ->> '$.secondsElapsed' AS seconds, progress -> '$.bill' AS bill
  FROM run WHERE started_at IS NOT NULL AND config ->> '$.folds' IS NULL AND relation IS NOT 'member' ORDER BY started_at, id`;
const trashedRuns = `
  SELECT id FROM run WHERE deleted_at IS NOT NULL AND deleted_at <= @before
  AND (@runs IS NULL OR id IN (SELECT value FROM json_each(@runs)))`;
const runsWithFolds = `
  SELECT id FROM run WHERE id IN (SELECT value FROM json_each(@runs))
  UNION SELECT id FROM run WHERE relation IN ('fold', 'member') AND parent IN (SELECT value FROM json_each(@runs)) ORDER BY id`;
const partedFolds = `
  SELECT fold.id, fold.parent, fold.start ->> '$.fold' AS number FROM run AS fold JOIN run AS parent ON parent.id = fold.parent
  WHERE fold.relation = 'fold' AND fold.id IN (SELECT value FROM json_each(@runs))
  AND fold.parent NOT IN (SELECT value FROM json_each(@runs)) ORDER BY fold.id LIMIT 1`;
const removeRuns = 'DELETE FROM run WHERE id IN (SELECT value FROM json_each(?))';

const searchedFields = ['name', 'datasetName', 'config', 'tags', 'notes', 'group'] as const;

interface BilledRow {
  readonly id: number;
  readonly device: string;
  readonly started_at: number;
  readonly seconds: number | null;
  readonly bill: string | null;
}

/** These runs, the folds of those that are cross-validations, and the members of ensembles. */
export function withFolds(connection: Connection, runs: readonly number[]): readonly number[] {
  const found = connection.sql<[object], { id: number }>(runsWithFolds).all({ runs: JSON.stringify(runs) });
  return found.map(({ id }) => id);
}

/** Throws `input.fold` where a fold would go and its cross-validation stay: the rows that it tests would go with it. */
export function refuseParting(connection: Connection, runs: readonly number[]): void {
  const found = connection
    .sql<[object], { id: number; parent: number; number: number }>(partedFolds)
    .get({ runs: JSON.stringify(runs) });
  if (found === undefined) return;
  const { id, parent, number } = found;
  throw new InputError(
    'input.fold',
    `Run ${id} is fold ${number} of run ${parent} and cannot be deleted by itself.`,
    `Delete the cross-validation, run ${parent}: its folds go with it.`,
  );
}

/** `hadCheckpoint`: whether a run has kept a checkpoint that may be gone by now. */
export function createRunsTable(
  connection: Connection,
  metrics: MetricsTable,
  files: RunFiles,
  hadCheckpoint: (row: RunRow) => boolean,
): RunsTable {
  const row = (run: number): RunRow => {
    const found = connection.sql<[number], RunRow>(readRun).get(run);
    if (found === undefined) {
      throw new InputError('input.unknown_run', `There is no run ${run}.`, 'List the runs to see their numbers.');
    }
    return found;
  };

  const set: RunsTable['set'] = (run, columns) => {
    const assignments = Object.keys(columns).map((column) => `"${column}" = @${column}, `);
    const update = `UPDATE run SET ${assignments.join('')}revision = @revision WHERE id = @run`;
    const revision = nextRevision(connection);
    connection.sql(update).run({ ...columns, revision, run });
    return revision;
  };

  /** What a run is found by: of its record nothing else is read, neither scores nor files. */
  const wordsOf = (found: RunRow, columns: readonly string[]): string =>
    searchText({ ...select([found], searchedFields)[0], columns });

  /** Brings the words that a run is found by up to date. */
  const index = (run: number): void => {
    const found = row(run);
    const columns = found.columns === null ? [] : (JSON.parse(found.columns) as readonly string[]);
    set(run, { search: wordsOf(found, columns) });
  };

  const select = <Field extends RecordField>(
    rows: readonly RunRow[],
    fields: readonly Field[],
    series?: readonly string[],
  ): readonly Pick<RunRecord, Field>[] => {
    const scored = fields.some((field) => field === 'last' || field === 'best');
    const summaries = scored
      ? metrics.summaries(
          rows.map(({ id }) => id),
          series,
        )
      : null;
    return rows.map((row) => {
      const hasCheckpoint = (): boolean => files.has(row.id, 'checkpoint.bin') || hadCheckpoint(row);
      return recordOf({ row, summaries: summaries?.get(row.id) ?? [], hasCheckpoint }, fields);
    });
  };
  const records: RunsTable['records'] = (rows) => select(rows, recordFields);

  return {
    row,
    set,
    records,
    create({ name, dataset, datasetName, config, owner, family, queue }) {
      const created = connection.sql<[object], { id: number }>(insertRun).get({
        name,
        dataset,
        datasetName,
        createdAt: Date.now(),
        pid: owner.pid,
        startedAt: owner.startedAt,
        revision: nextRevision(connection),
        search: searchText({ name, datasetName, config, tags: [], notes: '', group: null, columns: [] }),
        config: JSON.stringify(config),
        parent: family?.parent ?? null,
        relation: family?.relation ?? null,
        start: family ? JSON.stringify(family.start) : null,
      });
      const { id } = created!;
      if (queue) set(id, { queue: JSON.stringify({ position: id, ...queue }) });
      return id;
    },
    update(run, patch, when) {
      const before = row(run);
      if (when && !when.includes(before.state)) {
        throw new TrainyardError(
          'run.changed',
          `Run ${run} is ${before.state}, not ${when.join(' or ')}.`,
          'Somebody else has changed it; look at it again.',
        );
      }
      set(run, columnsOf(patch));
      const searched = [patch.name, patch.tags, patch.notes, patch.config, patch.group];
      if (searched.some((value) => value !== undefined)) index(run);
    },
    record: (run) => records([row(run)])[0],
    find<Field extends RecordField = RecordField>(query: RunQuery<Field>) {
      const { rows, total, parameters } = sqlOf(query, metrics.seriesNumber);
      // Without a choice of fields a query is one for all of them.
      const fields = query.fields ?? (recordFields as readonly RecordField[] as readonly Field[]);
      return {
        total: connection.sql<[object], { total: number }>(total).get(parameters)!.total,
        runs: select(connection.sql<[object], RunRow>(rows).all(parameters), fields, query.series),
      };
    },
    setColumns(run, columns) {
      // Nothing that is told of a run changes by what it is found by: no new revision.
      const search = wordsOf(row(run), columns);
      const update = 'UPDATE run SET columns = ?, search = ? WHERE id = ?';
      connection.sql<[string, string, number]>(update).run(JSON.stringify(columns), search, run);
    },
    groups: () => connection.sql<[], RunGroup>(usedGroups).all(),
    tags: () =>
      connection
        .sql<[], { tag: string }>(usedTags)
        .all()
        .map(({ tag }) => tag),
    bills: () =>
      connection
        .sql<[], BilledRow>(billedRuns)
        .all()
        .map(({ id, device, started_at: startedAt, seconds, bill }) => ({
          run: id,
          device,
          startedAt,
          secondsElapsed: seconds ?? 0,
          bill: bill === null ? null : (JSON.parse(bill) as RunBill),
        })),
    withFolds: (runs) => withFolds(connection, runs),
    inStates: (states) => connection.sql<[string], RunRow>(runsInStates).all(JSON.stringify(states)),
    trashed(runs, before) {
      const query = connection.sql<[object], { id: number }>(trashedRuns);
      return query.all({ runs: runs && JSON.stringify(runs), before }).map(({ id }) => id);
    },
    remove(runs) {
      if (runs.length === 0) return;
      connection.sql(removeRuns).run(JSON.stringify(runs));
      // No row is left to bear it: that the counter has moved is what other processes see.
      nextRevision(connection);
    },
  };
}
