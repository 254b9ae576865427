// Takes a training step of a run apart in the process that trains: a CPU host, or the command line.

import os from 'node:os';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { profileWorkloads, type ProfilingOptions } from '../../engine/bench/profiling.ts';
import { runWorkload } from '../../engine/bench/run-workload.ts';
import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { readModelFile } from '../../engine/learners/model-file.ts';
import { isNetworkFile } from '../../engine/learners/network/file.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { MeasuredProfile, ProfiledRun, ProfilerService } from '../../engine/protocol/step-profile.ts';
import { watchOthers } from '../../engine/system/others.ts';
import { nodeSurroundings } from './surroundings.ts';

/** How the CPU of this process is profiled. */
export const nodeProfiling: Omit<ProfilingOptions, 'threads' | 'onProgress'> = {
  open: async (threads) => createCpuBackend({ threads }),
  clock: nodeSurroundings.clock,
  watchOthers,
  processors: os.availableParallelism(),
  between: nodeSurroundings.breathe,
};

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

export function createProfiler(): ProfilerService {
  const progress = new Listeners<{ share: number }>();
  return {
    async profile(request) {
      let found: MeasuredProfile | null = null;
      const { threads } = request;
      const options = { ...nodeProfiling, threads, onProgress: (share: number) => progress.emit({ share }) };
      await profileWorkloads([workloadOfRun(request)], options, async (profile) => void (found = profile));
      if (found === null) throw new Error(`nothing was found of run ${request.run}`);
      return found;
    },
    onProfiled: (listener) => progress.add(listener),
  };
}
