// Entry of a CPU worker thread: makes its own instance of the kernels over the shared memory and serves submits until told
// to stop. It never returns to its event loop in between, so all communication is by atomics (layout.ts).

import { workerData } from 'node:worker_threads';
import { controlReady, outcomeDone } from './layout.ts';
import { instantiate, markFailed } from './machine.ts';

/** What a worker is started with. */
export interface WorkerTask {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly native: string | undefined;
  readonly thread: number;
  readonly threads: number;
  readonly scratch: number;
  readonly scratchBytes: number;
  readonly sleepSlices: number;
}

const task = workerData as WorkerTask;
const control = new Int32Array(task.memory.buffer, 0, controlReady / 4 + 1);
try {
  const kernels = instantiate(task.module, task.memory, task.native);
  kernels.setUp(task.scratch, task.scratchBytes, task.sleepSlices);
  if (kernels.serve(task.thread, task.threads) !== outcomeDone) markFailed(control, task.thread);
} catch (error) {
  markFailed(control, task.thread);
  throw error;
}
