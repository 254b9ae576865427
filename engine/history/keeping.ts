// The part of the store that keeps a history from being lost: backups, runs carried between homes, what takes how much room. Work that
// takes long has a job, by which it is watched and cancelled; calls go on beside it.

import type { StoreService } from '../protocol/store.ts';
import { Listeners } from '../protocol/listeners.ts';
import type { JobProgress } from '../protocol/keeping.ts';
import { backUpHome } from './archive/backup.ts';
import { exportRuns, importRuns } from './archive/runs.ts';
import type { Watched } from './archive/tar.ts';
import type { RunFiles } from './files.ts';
import type { History } from './open.ts';
import { compactHistory, dropSetAside, usageOf } from './usage.ts';

export type Keeping = Pick<
  StoreService,
  'backUp' | 'exportRuns' | 'importRuns' | 'cancelJob' | 'usage' | 'compact' | 'dropSetAside' | 'onJob'
>;

/** Before the first word of progress, and between two. */
const quietMilliseconds = 500;
const tellMilliseconds = 100;

/** Tells of progress no oftener than anybody can read, and nothing of what is done at once. */
export function paced(tell: (progress: JobProgress) => void): (progress: JobProgress) => void {
  let told = performance.now() + quietMilliseconds - tellMilliseconds;
  return (progress) => {
    const now = performance.now();
    if (now - told < tellMilliseconds) return;
    told = now;
    tell(progress);
  };
}

export interface KeepingParts {
  readonly home: string;
  readonly history: History;
  readonly files: RunFiles;
  readonly onImported: (run: number) => void;
}

export function createKeeping({ home, history, files, onImported }: KeepingParts): Keeping {
  const { connection } = history;
  const listeners = new Listeners<{ job: string; progress: JobProgress }>();
  const cancelled = new Set<string>();
  const going = new Set<string>();

  const work = async <Result>(job: string, what: (watched: Watched) => Promise<Result>): Promise<Result> => {
    going.add(job);
    try {
      return await what({
        goOn: () => !cancelled.has(job),
        onProgress: paced((progress) => listeners.emit({ job, progress })),
      });
    } finally {
      going.delete(job);
      cancelled.delete(job);
    }
  };

  return {
    async backUp({ job, file, datasets }) {
      return work(job, (watched) => backUpHome({ home, connection, file, datasets }, watched));
    },
    async exportRuns({ job, file, runs, datasets }) {
      return work(job, (watched) => exportRuns({ home, connection, file, runs, datasets }, watched));
    },
    async importRuns({ job, file }) {
      return work(job, (watched) => importRuns({ home, connection, files, file, onImported }, watched));
    },
    async cancelJob({ job }) {
      if (going.has(job)) cancelled.add(job);
    },
    usage: () => usageOf(home, connection),
    compact: async () => compactHistory(home, connection),
    dropSetAside: async () => ({ bytes: dropSetAside(home) }),
    onJob: (listener) => listeners.add(listener),
  };
}
