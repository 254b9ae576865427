// Checks of runs to be, for the window: rows are prepared, a process of the device checks them, and both are let go.

import { checkedRows } from '../../engine/learners/declared/prepared.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import type { CheckFinding, ExaminerService } from '../../engine/protocol/checking.ts';
import type { DataService, Progress } from '../../engine/protocol/data.ts';
import { CancelledError } from '../../engine/protocol/errors.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { Processes } from './processes.ts';

export interface CheckParts {
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost' | 'startGpuHost'>;
}

export type CheckMethods = Pick<AppService, 'checkRun' | 'cancelCheck' | 'onCheckFinding'> & {
  readonly onProgress: (listener: (event: { job: string; progress: Progress }) => void) => () => void;
};

/** What there is of a process, of either device. */
interface Host {
  readonly examiner: ExaminerService;
  readonly exited: Promise<string>;
  kill(): void;
}

export function createChecks({ data, processes }: CheckParts): CheckMethods {
  const progress = new Listeners<{ job: string; progress: Progress }>();
  const found = new Listeners<{ job: string; finding: CheckFinding }>();
  const cancelled = new Set<string>();
  const running = new Map<string, Host>();
  const stage = (job: string, text: string): void =>
    progress.emit({ job, progress: { stage: text, share: null, secondsLeft: null } });

  return {
    async checkRun({ job, config }) {
      const { dataset, device } = config;
      stage(job, 'Preparing rows');
      // A process takes as long to start as rows take to be prepared.
      const starting: Promise<Host> = device === 'gpu' ? processes.startGpuHost() : processes.startCpuHost();
      starting.catch(() => undefined);
      try {
        const prepared = await data.prepare({ job, dataset, options: checkedRows(config) });
        try {
          const host = await starting;
          if (cancelled.has(job)) throw new CancelledError('The check was cancelled.');
          running.set(job, host);
          host.examiner.onFinding((event) => found.emit(event));
          host.examiner.onProgress((event) => progress.emit(event));
          const gone = host.exited.then((reason): never => {
            throw new Error(`The process that checks has gone: ${reason}.`);
          });
          gone.catch(() => undefined);
          return await Promise.race([host.examiner.check({ job, config, data: prepared }), gone]);
        } finally {
          await data.release({ handle: prepared.handle });
        }
      } finally {
        cancelled.delete(job);
        running.delete(job);
        void starting.then((host) => host.kill()).catch(() => undefined);
      }
    },
    async cancelCheck({ job }) {
      cancelled.add(job);
      await data.cancel({ job });
      await running.get(job)?.examiner.cancel({ job });
    },
    onCheckFinding: (listener) => found.add(listener),
    onProgress: (listener) => progress.add(listener),
  };
}
