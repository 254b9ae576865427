// Takes a training step of a run apart in the process that trains: a CPU host, the GPU window, or the command line.

import { declarationOf } from '../learners/declared/registry.ts';
import { readModelFile } from '../learners/model-file.ts';
import { isNetworkFile } from '../learners/network/file.ts';
import { InputError } from '../protocol/errors.ts';
import { Listeners } from '../protocol/listeners.ts';
import type { MeasuredProfile, ProfiledRun, ProfilerService } from '../protocol/step-profile.ts';
import { profileWorkloads, type ProfilingOptions } from './profiling.ts';
import { runWorkload } from './run-workload.ts';

/** The step of a run as a workload. Throws InputError `input.no_steps` for a model that is trained in none. */
export function workloadOfRun({ run, model, rows }: ProfiledRun): ReturnType<typeof runWorkload> {
  const file = readModelFile(model, run);
  if (isNetworkFile(file)) return runWorkload(`run ${run}`, file, rows);
  throw new InputError(
    'input.no_steps',
    `Run ${run} is ${declarationOf(file).noun}: it is not trained in steps.`,
    'Choose the run of a network.',
  );
}

/** `options`: how the device of this process is profiled. */
export function createProfiler(options: Omit<ProfilingOptions, 'threads' | 'onProgress'>): ProfilerService {
  const progress = new Listeners<{ share: number }>();
  return {
    async profile(request) {
      let found: MeasuredProfile | null = null;
      const { threads } = request;
      const asked = { ...options, threads, onProgress: (share: number) => progress.emit({ share }) };
      await profileWorkloads([workloadOfRun(request)], asked, async (profile) => void (found = profile));
      if (found === null) throw new Error(`nothing was found of run ${request.run}`);
      return found;
    },
    onProfiled: (listener) => progress.add(listener),
  };
}
