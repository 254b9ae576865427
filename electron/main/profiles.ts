// Where a step of a run goes, for the window: measured in a process that trains, while the runs of this app wait. One that is cancelled ends
// its process, whatever it is doing.

import { LabControl } from '../../engine/lab/control.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import type { Progress } from '../../engine/protocol/data.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { MeasuredProfile } from '../../engine/protocol/step-profile.ts';
import { readProfiled } from '../../engine/runs/profiled.ts';
import type { Alone } from './alone.ts';
import type { CpuHost, Processes } from './processes.ts';

export interface ProfileParts {
  readonly store: StoreService;
  readonly processes: Pick<Processes, 'startCpuHost' | 'startGpuHost'>;
  readonly alone: Alone;
}

export type ProfileMethods = Pick<AppService, 'profileRun' | 'cancelProfile'> & {
  readonly onProgress: (listener: (event: { job: string; progress: Progress }) => void) => () => void;
};

/** What there is of a process, of either device. */
type Host = Pick<CpuHost, 'profiler' | 'exited' | 'kill'>;

export function createProfiles({ store, processes, alone }: ProfileParts): ProfileMethods {
  const progress = new Listeners<{ job: string; progress: Progress }>();
  /** What ends each of those under way. */
  const jobs = new Map<string, () => void>();
  return {
    async profileRun({ job, run }) {
      const early = new LabControl();
      jobs.set(job, () => early.cancel());
      const request = await Promise.race([readProfiled(store, run), early.cancellation]).catch((error: unknown) => {
        jobs.delete(job);
        throw error;
      });
      jobs.set(job, () => alone.cancel());
      const on = async (starting: Promise<Host>, control: LabControl): Promise<MeasuredProfile> => {
        try {
          const { profiler, exited } = await Promise.race([starting, control.cancellation]);
          profiler.onProfiled(({ share }) => {
            progress.emit({ job, progress: { stage: 'Timing each call', share, secondsLeft: null } });
          });
          const gone = exited.then((reason) => {
            throw new TrainyardError('device.lost', `The process that measured is gone: ${reason}.`, 'Measure again.');
          });
          gone.catch(() => undefined);
          // A connection closes together with its process, and the process's own ending says more.
          const measured = profiler.profile(request).catch(async (error: unknown) => {
            if (error instanceof TrainyardError && error.code === 'internal.disconnected') return gone;
            throw error;
          });
          return await Promise.race([measured, control.cancellation]);
        } finally {
          void starting.then(
            (host) => host.kill(),
            () => undefined,
          );
        }
      };
      const measuring = alone.while('profile', async (control) => {
        if (!request.gpu) return on(processes.startCpuHost(), control);
        try {
          return await on(processes.startGpuHost(), control);
        } catch (error) {
          // A run from elsewhere, or a GPU that is gone: the page says that this is the CPU.
          if (!(error instanceof TrainyardError) || error.code !== 'device.no_adapter') throw error;
          return on(processes.startCpuHost(), control);
        }
      });
      return measuring.finally(() => jobs.delete(job));
    },
    async cancelProfile({ job }) {
      jobs.get(job)?.();
    },
    onProgress: (listener) => progress.add(listener),
  };
}
