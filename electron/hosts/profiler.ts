// How a training step is taken apart on the CPU of this process.

import os from 'node:os';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { ProfilingOptions } from '../../engine/bench/profiling.ts';
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
