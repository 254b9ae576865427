// A thread of this process that trains trials of a search.

import { Worker } from 'node:worker_threads';
import type { ThreadAtWork } from '../../engine/learners/learner.ts';
import { threadPort } from '../../engine/protocol/port.node.ts';
import type { TrustedCpuOptions } from './trusted-cpu.ts';

export function startTrialThread(options: TrustedCpuOptions): ThreadAtWork {
  // No flags of the parent: some of them (--input-type, test runners') make a worker fail before it starts.
  const worker = new Worker(new URL('./trial-worker.ts', import.meta.url), { workerData: options, execArgv: [] });
  // Whoever waits for it hears that it has ended.
  worker.on('error', () => undefined);
  return { port: threadPort(worker), end: () => void worker.terminate() };
}
