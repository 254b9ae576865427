// Entry of a worker thread that trains trials of a search: its own memory, kernels and threads.

import { parentPort, workerData } from 'node:worker_threads';
import { otherLearners } from '../../engine/learners/predict.ts';
import { serveTrials } from '../../engine/learners/search/trial-partner.ts';
import { threadPort } from '../../engine/protocol/port.node.ts';
import { nodeSurroundings } from './surroundings.ts';
import { openCpu, type TrustedCpuOptions } from './trusted-cpu.ts';

serveTrials(threadPort(parentPort!), {
  backend: () => openCpu(workerData as TrustedCpuOptions),
  surroundings: nodeSurroundings,
  others: otherLearners,
});
