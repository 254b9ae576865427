// The history as a service: the one place that knows both the database and the run folders of a home. It runs in the
// store's own process (electron/hosts/store.ts); several such processes may use one home at the same time.

import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { unmarked } from '../protocol/queue.ts';
import { finalStates } from '../protocol/runs.ts';
import type { LogLine, RunProgress, RunState } from '../protocol/runs.ts';
import type { Family, StoreService } from '../protocol/store.ts';
import { finishRestore } from './archive/restore.ts';
import { startBackups } from './backups.ts';
import { columnsIn, findColumns } from './columns.ts';
import { databaseFileName, explainFailure } from './failures.ts';
import { createRunFiles } from './files.ts';
import { rebuildRuns } from './folders.ts';
import { historyIdentity, makeFolder, replacedError } from './home.ts';
import { createMetricsTable } from './metrics.ts';
import { createKeeping } from './keeping.ts';
import { createLabsTable } from './labs.ts';
import { refuseForeign } from './foreign.ts';
import { shareHome } from './lock.ts';
import { goneError, hasChecksum, isChecked, keptCheckpoint, noteChecked } from './missing.ts';
import { createLogTable, createSettingsTable } from './notes.ts';
import { openHistory } from './open.ts';
import type { History } from './open.ts';
import { isAlive, isPlainlyGone } from './owner.ts';
import type { Owner } from './owner.ts';
import { isReadOnly, openReadOnly, refuseWrites } from './read-only.ts';
import { encodeRecord } from './records.ts';
import type { RunRow } from './records.ts';
import { repeat } from './repeat.ts';
import { keepReserve, withReserve } from './reserve.ts';
import { watchChanges } from './revisions.ts';
import { emptyTrash } from './trash.ts';
import { createRunsTable, refuseParting } from './runs.ts';
import { createTrialsTable } from './trials.ts';

export { databaseFileName };

/** How often a store that somebody watches looks for runs whose process has died. */
const recoverMilliseconds = 2_000;

/** States of runs that are lost with their process. A queued one has nothing to lose: it waits for the next process. */
const begunStates: readonly RunState[] = ['running', 'paused'];

/**
 * Opens the history of a home, creating what is missing. A home that cannot be written is opened for looking alone. Throws
 * `store.newer`, `store.corrupt`, `store.readonly`, `store.full`, `store.not_a_folder`; its methods reject with
 * `input.unknown_run` and with the same kinds of errors. `begunWith` is the history (`historyIdentity`) that whoever asks began with:
 * another one is refused with `store.replaced`, as is every call once another has taken the place of the one that was opened.
 */
export function createStore(home: string, begunWith?: string): StoreService {
  try {
    makeFolder(home);
    if (begunWith !== undefined && historyIdentity(home) !== begunWith) throw replacedError(home);
    const history = openToWrite(home);
    if (history === null) {
      const copy = openReadOnly(home);
      return refuseWrites(explained(createService(home, copy), home, copy), home);
    }
    return explained(createService(home, history), home, history);
  } catch (error) {
    throw explainFailure(error, home);
  }
}

/** null: the home cannot be written. */
function openToWrite(home: string): History | null {
  if (isReadOnly(home)) return null;
  refuseForeign(join(home, databaseFileName));
  finishRestore(home);
  const lock = shareHome(home);
  try {
    const history = openHistory(home);
    keepReserve(home);
    return unlessReplaced(home, history, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Numbers of runs are those of the history that was opened: of another one in its place they name other runs. */
function unlessReplaced(home: string, history: History, onClose: () => void): History {
  const opened = historyIdentity(home);
  const isThere = (): boolean => historyIdentity(home) === opened;
  return {
    ...history,
    refuseDamage() {
      if (!isThere()) throw replacedError(home);
      history.refuseDamage();
    },
    close() {
      try {
        history.close(isThere());
      } finally {
        onClose();
      }
    },
  };
}

function createService(home: string, history: History): StoreService {
  const { connection } = history;
  const files = createRunFiles(home);
  const metrics = createMetricsTable(connection);
  const runs = createRunsTable(connection, metrics, files, (row) => keptCheckpoint(home, row));
  const log = createLogTable(connection);
  const settings = createSettingsTable(connection);
  const labs = createLabsTable(connection);
  const trials = createTrialsTable(connection);
  const changes = watchChanges(connection);
  if (!history.readOnly) rebuildRuns(connection, home, 'later');
  const stopBackups = history.readOnly ? null : startBackups(home, history);

  /** What the database says of runs stands in their folders, too: the history can be rebuilt from there. */
  const keepRecords = (chosen: readonly number[]): void => {
    for (const run of chosen) files.keepRecord(run, encodeRecord(runs.row(run)));
  };

  /** What a new run has of its parent. A run is there with it or not at all: it stands within the transaction. */
  const takeOver = (run: number, { parent, file, untilStep }: Family): void => {
    runs.row(parent);
    if (file !== undefined) files.takeOver(run, parent, file);
    if (untilStep !== undefined) metrics.inherit(run, parent, untilStep);
  };

  /** Small changes that a full disk must not keep from being made. */
  const changeRuns = <Result>(work: () => Result): Result => withReserve(home, () => connection.transaction(work));

  const recover: StoreService['recover'] = async () => {
    const orphans = runs.inStates(begunStates).filter((row) => !isAlive(ownerOf(row)));
    if (orphans.length === 0) return [];
    const lost = changeRuns(() => {
      // Another process may have been faster: recovered the run itself, or even resumed it.
      const still = orphans.filter((orphan) => sameLife(orphan, runs.row(orphan.id)));
      for (const row of still) {
        runs.set(row.id, { state: 'interrupted', ended_at: lastSign(row), request: null });
        log.append(row.id, [interruptedLine()]);
      }
      return still.map(({ id }) => id);
    });
    for (const run of lost) await files.tidy(run);
    keepRecords(lost);
    changes.announce(lost);
    return lost.map((run) => runs.record(run));
  };
  let stopRecovering: (() => void) | null = null;
  const recoverPlainlyLost = async (): Promise<void> => {
    if (runs.inStates(begunStates).some((row) => isPlainlyGone(ownerOf(row)))) await recover();
  };

  const purge: StoreService['purge'] = async ({ olderThan = 0, runs: chosen = null }) => {
    const purged = changeRuns(() => {
      if (chosen) refuseParting(connection, chosen);
      const trashed = runs.trashed(chosen && runs.withFolds(chosen), Date.now() - olderThan);
      trashed.forEach(files.discard);
      runs.remove(trashed);
      return trashed;
    });
    changes.announce(purged);
    const bytes = await files.sweep();
    keepReserve(home);
    return { runs: purged.length, bytes };
  };
  let closed = false;
  let stopEmptying: (() => void) | null = null;
  /** What is seen to beside the calls, once the history has been looked at: whoever writes before hides what its seal would tell. */
  const tend = async (): Promise<void> => {
    await history.checked;
    if (closed) return;
    stopEmptying = emptyTrash(
      (before) => runs.trashed(null, before).length > 0,
      (olderThan) => purge({ olderThan }),
    );
    await findColumns(home, connection, runs, () => !closed);
  };
  // What fails is tried again when the history is opened the next time.
  if (!history.readOnly) void tend().catch(() => undefined);
  const onImported = (run: number): void => {
    keepRecords([run]);
    changes.announce([run]);
  };

  return {
    ...createKeeping({ home, history, files, onImported }),
    async createRun(run) {
      const id = connection.transaction(() => {
        const created = runs.create(run);
        files.setAside(created);
        if (run.family) takeOver(created, run.family);
        noteChecked(connection, created);
        return created;
      });
      keepRecords([id]);
      changes.announce([id]);
      return runs.record(id);
    },
    async updateRun({ run, patch, when }) {
      const ends = patch.state !== undefined && finalStates.has(patch.state);
      const change = (): void => {
        runs.update(run, patch, when);
        if (patch.result) metrics.keepScores(run);
      };
      if (ends) changeRuns(change);
      else connection.transaction(change);
      keepRecords([run]);
      const record = runs.record(run);
      // Nobody goes on with such a run. What it started from is among what an export trains it anew with.
      if (patch.state === 'completed' || patch.state === 'diverged')
        await files.dropPrevious(run, record.relation === 'started from');
      changes.announce([run]);
      return record;
    },
    async append({ run, points, log: lines = [], progress, again = false }) {
      const { request, growth } = connection.transaction(() => {
        const { request, revision: from } = runs.row(run);
        if (again && (metrics.has(run, points) || log.has(run, lines))) return { request, growth: null };
        metrics.append(run, points);
        log.append(run, lines);
        const news = points.length > 0 || lines.length > 0 || progress !== undefined || request !== null;
        if (!news) return { request, growth: null };
        const to = runs.set(run, { request: null, ...(progress && { progress: JSON.stringify(progress) }) });
        return { request, growth: { from, to, logged: lines.length > 0 } };
      });
      if (growth !== null) changes.note(run, growth);
      return { request };
    },
    async truncate({ run, afterStep }) {
      connection.transaction(() => {
        metrics.truncate(runs.row(run).id, afterStep);
        runs.set(run, {});
      });
      changes.announce([run]);
    },
    run: async ({ run }) => runs.record(run),
    runs: async (query) => runs.find(query),
    tags: async () => runs.tags(),
    groups: async () => runs.groups(),
    bills: async () => runs.bills(),
    metrics: async ({ run, ...selection }) => metrics.read(runs.row(run).id, selection),
    log: async ({ run, after = 0 }) => log.read(runs.row(run).id, after),
    keepTrials: async ({ run, trials: ended }) => connection.transaction(() => trials.keep(runs.row(run).id, ended)),
    trials: async ({ run, after = 0, limit }) => trials.read(runs.row(run).id, after, limit),

    async deleteRuns({ runs: chosen }) {
      const deleted = changeRuns(() => {
        for (const run of chosen) refuseActive(runs.row(run));
        refuseParting(connection, chosen);
        const all = runs.withFolds(chosen);
        const now = Date.now();
        for (const run of all) {
          const row = runs.row(run);
          refuseActive(row);
          const { queue } = runs.record(run);
          // Should it come back from the trash, it does not go on by itself.
          const settled = queue?.taken && { queue: JSON.stringify(unmarked(queue)) };
          runs.set(run, { deleted_at: row.deleted_at ?? now, ...settled });
        }
        return all;
      });
      keepRecords(deleted);
      changes.announce(deleted);
    },
    async restoreRuns({ runs: chosen }) {
      const restored = changeRuns(() => {
        for (const run of chosen) runs.row(run);
        const all = runs.withFolds(chosen);
        for (const run of all) runs.set(run, { deleted_at: null });
        return all;
      });
      keepRecords(restored);
      changes.announce(restored);
    },
    purge,

    async writeFile({ run, file, data, together }) {
      const { id } = runs.row(run);
      await (together ? files.writeTogether(id, { [file]: data, ...together }) : files.write(id, file, data));
      const recipe = file === 'preprocessing.json' ? data : together?.['preprocessing.json'];
      const columns = recipe ? columnsIn(new TextDecoder().decode(recipe)) : null;
      if (columns !== null) connection.transaction(() => runs.setColumns(run, columns));
      const growth = connection.transaction(() => ({
        from: runs.row(run).revision,
        to: runs.set(run, {}),
        logged: false,
      }));
      changes.note(run, growth);
    },
    async removeFile({ run, file }) {
      await files.remove(runs.row(run).id, file);
    },
    files: async ({ run }) => files.list(runs.row(run).id),
    async readFile({ run, file }) {
      const row = runs.row(run);
      const data = await files.read(row.id, file);
      const gone = data === null ? goneError(home, row, file) : null;
      if (gone !== null) throw gone;
      return data;
    },
    isChecked: async ({ run, file }) => {
      const row = runs.row(run);
      return file === undefined ? isChecked(connection, home, row) : hasChecksum(home, row.id, file);
    },

    recover,
    async adopt({ owner, run, from }) {
      // A thousand may be of one owner, who is looked for once.
      const known = new Map<string, boolean>();
      const isGone = (row: RunRow): boolean => {
        if (from) return row.owner_pid === from.pid && row.owner_started_at === from.startedAt;
        const key = `${row.owner_pid} ${row.owner_started_at}`;
        const gone = known.get(key) ?? !isAlive(ownerOf(row));
        known.set(key, gone);
        return gone;
      };
      const orphans = runs.inStates(['queued']).filter(isGone);
      const wanted = run === undefined ? orphans : orphans.filter(({ id }) => id === run);
      if (wanted.length === 0) return [];
      const adopted = connection.transaction(() => {
        const still = wanted.filter((orphan) => sameLife(orphan, runs.row(orphan.id)));
        for (const { id } of still) runs.set(id, { owner_pid: owner.pid, owner_started_at: owner.startedAt });
        return still.map(({ id }) => id);
      });
      changes.announce(adopted);
      return adopted.map((id) => runs.record(id));
    },

    getSetting: async ({ key }) => settings.get(key),
    async setSetting({ key, value }) {
      connection.transaction(() => settings.set(key, value));
    },
    labs: async () => labs.list(),
    lab: async ({ lab }) => labs.read(lab),
    addLab: async ({ result, imported }) => connection.transaction(() => labs.read(labs.add(result, imported))),
    async deleteLab({ lab }) {
      connection.transaction(() => labs.remove(lab));
    },
    onChanged(listener) {
      stopRecovering ??= repeat(recoverMilliseconds, recoverPlainlyLost);
      return changes.onChanged(listener);
    },
    async close() {
      closed = true;
      stopRecovering?.();
      stopEmptying?.();
      changes.close();
      await stopBackups?.();
      history.close();
    },
  };
}

function refuseActive(row: RunRow): void {
  if (finalStates.has(row.state)) return;
  throw new InputError('input.run_active', `Run ${row.id} ("${row.name}") is ${row.state}.`, 'Stop it first.');
}

function ownerOf(row: RunRow): Owner {
  return { pid: row.owner_pid, startedAt: row.owner_started_at };
}

function sameLife(before: RunRow, now: RunRow): boolean {
  return (
    now.state === before.state && before.owner_pid === now.owner_pid && before.owner_started_at === now.owner_started_at
  );
}

function interruptedLine(): LogLine {
  return { time: Date.now(), level: 'warning', message: 'Interrupted: the process that trained this run is gone.' };
}

/** When a lost run was last heard of: its start and the seconds of work it had reported. */
function lastSign(row: RunRow): number {
  const progress = row.progress === null ? null : (JSON.parse(row.progress) as RunProgress);
  return Math.round((row.started_at ?? row.created_at) + 1000 * (progress?.secondsElapsed ?? 0));
}

/** The same service with every error in words for people. */
function explained(service: StoreService, home: string, history: History): StoreService {
  const methods = Object.entries(service).map(([name, method]: [string, (request: unknown) => unknown]) => {
    if (name.startsWith('on')) return [name, method] as const;
    const guarded = async (request: unknown): Promise<unknown> => {
      try {
        if (name !== 'close') history.refuseDamage();
        return await method(request);
      } catch (error) {
        throw explainFailure(error, home);
      }
    };
    return [name, guarded] as const;
  });
  return Object.fromEntries(methods) as unknown as StoreService;
}
