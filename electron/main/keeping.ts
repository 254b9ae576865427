// Never losing anything, as the window asks for it: backups through the system's dialogs, restoring and repairing while the store
// rests, runs carried between homes, what takes how much room. The work is the store's.

import path from 'node:path';
import type { AppService } from '../../engine/protocol/app.ts';
import type { DataService, Progress } from '../../engine/protocol/data.ts';
import { InputError, toWire } from '../../engine/protocol/errors.ts';
import { archiveEnding, type JobProgress, type RestoreService } from '../../engine/protocol/keeping.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { Port } from '../../engine/protocol/port.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { RepairService, StoreService } from '../../engine/protocol/store.ts';
import type { ChosenPaths } from './paths.ts';
import type { Dialogs } from './saving.ts';

/** A process of the store's that does one thing instead of serving. */
export interface Keeper {
  readonly port: Port;
  readonly ready: Promise<void>;
  readonly ended: Promise<string>;
  end(): void;
}

export interface Keepers {
  /** Does something while the store has been ended; calls made meanwhile wait. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  startRepair(): Keeper;
  startRestore(): Keeper;
}

export interface KeepingParts {
  readonly data: DataService;
  readonly store: StoreService;
  readonly keepers: Keepers;
  readonly paths: ChosenPaths;
  readonly dialogs: Dialogs;
}

/** Whether an error of the store's is one that a repair may mend. */
export function isRepairable(error: unknown): boolean {
  return toWire(error).code === 'store.corrupt';
}

export type KeepingPart = Pick<
  AppService,
  | 'backUp'
  | 'restoreBackup'
  | 'repairHistory'
  | 'exportRuns'
  | 'importRuns'
  | 'usage'
  | 'emptyTrash'
  | 'compact'
  | 'dropSetAside'
  | 'cancel'
  | 'onProgress'
>;

export function createKeeping({ data, store, keepers, paths, dialogs }: KeepingParts): KeepingPart {
  const listeners = new Listeners<{ job: string; progress: Progress }>();
  /** Restores under way, by job. */
  const restoring = new Map<string, () => void>();
  const tell = (job: string, { stage, share }: JobProgress): void =>
    listeners.emit({ job, progress: { stage, share, secondsLeft: null } });

  /** Runs would lose the history they report to. One in which damage was found takes no reports any more, and tells of none. */
  const refuseRuns = async (what: string): Promise<void> => {
    try {
      const { runs } = await store.runs({ states: ['queued', 'running', 'paused'], limit: 1, fields: ['id', 'name'] });
      if (runs.length === 0) return;
      throw new InputError(
        'input.run_active',
        `Run ${runs[0].id} (“${runs[0].name}”) goes on: ${what} needs the history for itself.`,
        'Let it end, or stop it, and try again.',
      );
    } catch (error) {
      if (!isRepairable(error)) throw error;
    }
  };
  const ended = async <Result>(keeper: Keeper, work: () => Promise<Result>): Promise<Result> => {
    try {
      await keeper.ready;
      return await work();
    } finally {
      keeper.end();
      await keeper.ended;
    }
  };

  return {
    async backUp({ job, datasets }) {
      const day = new Date().toISOString().slice(0, 10);
      const file = await dialogs.askWhere(`Trainyard ${day}${archiveEnding}`);
      return file === null ? null : store.backUp({ job, file: path.resolve(file), datasets });
    },
    async exportRuns({ job, runs, datasets }) {
      const { name } = await store.run({ run: runs[0] });
      const file = await dialogs.askWhere(`${runs.length === 1 ? name : `${runs.length} runs`}${archiveEnding}`);
      return file === null ? null : store.exportRuns({ job, file: path.resolve(file), runs, datasets });
    },
    importRuns: ({ job, token }) => store.importRuns({ job, file: paths.resolve(token) }),
    async restoreBackup({ job, token }) {
      const file = paths.resolve(token);
      await refuseRuns('restoring');
      return keepers.alone(() => {
        const keeper = keepers.startRestore();
        return ended(keeper, async () => {
          const remote = connect<RestoreService>(keeper.port, { peer: 'the store process' });
          remote.onRestoreProgress((progress) => tell(job, progress));
          restoring.set(job, () => void remote.cancelRestore().catch(() => undefined));
          try {
            return await remote.restore({ file });
          } finally {
            restoring.delete(job);
          }
        });
      });
    },
    async repairHistory() {
      await refuseRuns('looking for damage');
      return keepers.alone(() => {
        const keeper = keepers.startRepair();
        return ended(keeper, () => connect<RepairService>(keeper.port, { peer: 'the store process' }).repair());
      });
    },
    usage: () => store.usage(),
    emptyTrash: () => store.purge({}),
    compact: () => store.compact(),
    dropSetAside: () => store.dropSetAside(),
    async cancel({ job }) {
      restoring.get(job)?.();
      await Promise.all([data.cancel({ job }), store.cancelJob({ job })]);
    },
    onProgress(listener) {
      const stops = [
        data.onProgress(listener),
        store.onJob(({ job, progress: { stage, share } }) =>
          listener({ job, progress: { stage, share, secondsLeft: null } }),
        ),
        listeners.add(listener),
      ];
      return () => stops.forEach((stop) => stop());
    },
  };
}
