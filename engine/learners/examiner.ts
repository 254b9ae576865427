// Checks before a run, as every host serves them: of any learner, by what it lets be examined or else by a short training as it is
// (trial-alone.ts), on the device of the host. Nothing of it is kept.

import type { Backend } from '../backends/backend.ts';
import { changed } from '../doctor/changes.ts';
import { examineRun } from '../doctor/examination.ts';
import type { CheckFinding, ExaminerService } from '../protocol/checking.ts';
import type { Progress, Shard } from '../protocol/data.ts';
import { CancelledError } from '../protocol/errors.ts';
import { Listeners } from '../protocol/listeners.ts';
import type { RunConfig } from '../protocol/runs.ts';
import type { Surroundings } from '../train/control.ts';
import { declarationOf } from './declared/registry.ts';
import { lazyBackend } from './lazy-backend.ts';
import { isNetwork } from './network/declaration.ts';
import { learnerNamed } from './registry.ts';
import { trialAlone } from './trial-alone.ts';

export interface ExaminerOptions {
  /** Constructs the device of a run; it is closed when the check has ended. */
  readonly createBackend: (config: RunConfig) => Promise<Backend>;
  /** The float64 reference, which the device is held against. */
  readonly createReference: () => Backend;
  readonly readShard: (handle: string, shard: number) => Promise<Shard>;
  readonly surroundings: Surroundings;
  /** Bytes of memory the resident rows may take. */
  readonly dataBudget: number;
}

export function createExaminer(options: ExaminerOptions): ExaminerService {
  const { surroundings, dataBudget } = options;
  const found = new Listeners<{ job: string; finding: CheckFinding }>();
  const progress = new Listeners<{ job: string; progress: Progress }>();
  const cancelled = new Set<string>();
  return {
    async check({ job, config, data }) {
      const declaration = declarationOf(config);
      const learner = learnerNamed(config.learner);
      // That all of its layers are frozen is for the check to tell, with what to try.
      declaration.check(isNetwork(config) ? changed(config, { settings: { frozenLayers: 0 } }) : config, data);
      const readShard = (shard: number) => options.readShard(data.handle, shard);
      let device = 'CPU';
      const backend = lazyBackend(async () => {
        const opened = await options.createBackend(config);
        const { kind, threads } = opened.device;
        device =
          kind === 'cpu'
            ? `CPU, ${threads} ${threads === 1 ? 'thread' : 'threads'}`
            : kind === 'gpu'
              ? 'GPU'
              : 'float64 reference';
        return opened;
      });
      const start = surroundings.clock();
      const breathe = async (): Promise<void> => {
        await surroundings.breathe();
        if (cancelled.has(job)) throw new CancelledError('The check was cancelled.');
      };
      try {
        return await examineRun({
          config,
          data,
          readShard,
          dataBudget,
          device: () => device,
          examine: (sampled) => {
            const rows = { readShard, dataBudget, backend: backend.open, reference: options.createReference };
            const own = { ...surroundings, breathe };
            const job = { ...rows, ...sampled, config };
            return learner.examine?.(job, own) ?? Promise.resolve(trialAlone(learner, job, own));
          },
          pace: { clock: surroundings.clock, breathe },
          onFinding: (finding) => found.emit({ job, finding }),
          onProgress: (stage, share) => {
            const seconds = (surroundings.clock() - start) / 1000;
            const secondsLeft = share > 0.02 ? (seconds * (1 - share)) / share : null;
            progress.emit({ job, progress: { stage, share, secondsLeft } });
          },
        });
      } finally {
        cancelled.delete(job);
        await backend.close();
      }
    },
    cancel: async ({ job }) => void cancelled.add(job),
    onFinding: (listener) => found.add(listener),
    onProgress: (listener) => progress.add(listener),
  };
}
