// The history as a service: the one place that knows both the database and the run folders of a home. It runs in the
// store's own process (electron/hosts/store.ts); several such processes may use one home at the same time.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import { finalStates } from '../protocol/runs.ts';
import type { LogLine, RunProgress, RunState, StoreService } from '../protocol/runs.ts';
import { openDatabase } from './database.ts';
import type { Connection } from './database.ts';
import { explainFailure } from './failures.ts';
import { createRunFiles } from './files.ts';
import { createMetricsTable } from './metrics.ts';
import { migrate } from './migrations.ts';
import { createLogTable, createSettingsTable } from './notes.ts';
import { isAlive, isPlainlyGone } from './owner.ts';
import type { Owner } from './owner.ts';
import type { RunRow } from './records.ts';
import { repeat } from './repeat.ts';
import { watchChanges } from './revisions.ts';
import { createRunsTable } from './runs.ts';

export const databaseFileName = 'history.db';

/** How often a store that somebody watches looks for runs whose process has died. */
const recoverMilliseconds = 2_000;

/** States of runs that are lost with their process. A queued one has nothing to lose: it waits for the next process. */
const begunStates: readonly RunState[] = ['running', 'paused'];

/**
 * Opens the history of a home, creating what is missing. Throws `store.newer`, `store.corrupt`, `store.readonly`,
 * `store.full`, `store.not_a_folder`; its methods reject with `input.unknown_run` and with the same kinds of errors.
 */
export function createStore(home: string): StoreService {
  try {
    mkdirSync(home, { recursive: true });
    const connection = openDatabase(join(home, databaseFileName));
    try {
      migrate(connection);
      return explained(createService(home, connection), home);
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw explainFailure(error, home);
  }
}

function createService(home: string, connection: Connection): StoreService {
  const files = createRunFiles(home);
  const metrics = createMetricsTable(connection);
  const runs = createRunsTable(connection, metrics, files);
  const log = createLogTable(connection);
  const settings = createSettingsTable(connection);
  const changes = watchChanges(connection);

  const recover: StoreService['recover'] = async () => {
    const orphans = runs.inStates(begunStates).filter((row) => !isAlive(ownerOf(row)));
    const lost = connection.transaction(() => {
      // Another process may have been faster: recovered the run itself, or even resumed it.
      const still = orphans.filter((orphan) => sameLife(orphan, runs.row(orphan.id)));
      for (const row of still) {
        runs.set(row.id, { state: 'interrupted', ended_at: lastSign(row), request: null });
        log.append(row.id, [interruptedLine()]);
      }
      return still.map(({ id }) => id);
    });
    for (const run of lost) await files.tidy(run);
    changes.announce(lost);
    return lost.map((run) => runs.record(run));
  };
  let stopRecovering: (() => void) | null = null;
  const recoverPlainlyLost = async (): Promise<void> => {
    if (runs.inStates(begunStates).some((row) => isPlainlyGone(ownerOf(row)))) await recover();
  };

  return {
    async createRun(run) {
      const id = connection.transaction(() => {
        const created = runs.create(run);
        files.setAside(created);
        return created;
      });
      changes.announce([id]);
      return runs.record(id);
    },
    async updateRun({ run, patch, when }) {
      connection.transaction(() => runs.update(run, patch, when));
      changes.announce([run]);
      return runs.record(run);
    },
    async append({ run, points, log: lines = [], progress }) {
      return connection.transaction(() => {
        const { request } = runs.row(run);
        metrics.append(run, points);
        log.append(run, lines);
        const news = points.length > 0 || lines.length > 0 || progress !== undefined || request !== null;
        if (news) runs.set(run, { request: null, ...(progress && { progress: JSON.stringify(progress) }) });
        return { request };
      });
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
    metrics: async ({ run, ...selection }) => metrics.read(runs.row(run).id, selection),
    log: async ({ run }) => log.read(runs.row(run).id),

    async deleteRuns({ runs: chosen }) {
      connection.transaction(() => {
        for (const run of chosen) {
          refuseActive(runs.row(run));
          runs.set(run, { deleted_at: Date.now() });
        }
      });
      changes.announce(chosen);
    },
    async restoreRuns({ runs: chosen }) {
      connection.transaction(() => {
        for (const run of chosen) runs.set(runs.row(run).id, { deleted_at: null });
      });
      changes.announce(chosen);
    },
    async purge({ olderThan = 0, runs: chosen = null }) {
      const purged = connection.transaction(() => {
        const trashed = runs.trashed(chosen, Date.now() - olderThan);
        trashed.forEach(files.discard);
        runs.remove(trashed);
        return trashed;
      });
      changes.announce(purged);
      return { runs: purged.length, bytes: await files.sweep() };
    },

    async writeFile({ run, file, data }) {
      await files.write(runs.row(run).id, file, data);
      connection.transaction(() => runs.set(run, {}));
      changes.announce([run]);
    },
    readFile: async ({ run, file }) => files.read(runs.row(run).id, file),

    recover,
    async adopt({ owner, run }) {
      const orphans = runs.inStates(['queued']).filter((row) => !isAlive(ownerOf(row)));
      const wanted = run === undefined ? orphans : orphans.filter(({ id }) => id === run);
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
      settings.set(key, value);
    },
    onChanged(listener) {
      stopRecovering ??= repeat(recoverMilliseconds, recoverPlainlyLost);
      return changes.onChanged(listener);
    },
    async close() {
      stopRecovering?.();
      changes.close();
      connection.close();
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
function explained(service: StoreService, home: string): StoreService {
  const methods = Object.entries(service).map(([name, method]: [string, (request: unknown) => unknown]) => {
    if (name.startsWith('on')) return [name, method] as const;
    const guarded = async (request: unknown): Promise<unknown> => {
      try {
        return await method(request);
      } catch (error) {
        throw explainFailure(error, home);
      }
    };
    return [name, guarded] as const;
  });
  return Object.fromEntries(methods) as unknown as StoreService;
}
