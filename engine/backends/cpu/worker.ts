// Entry of a CPU worker thread: makes its own instance of the kernels over the shared memory and serves submits until told
// to stop. It never returns to its event loop in between, so all communication is by atomics (layout.ts).

import { workerData } from 'node:worker_threads';
import { controlReady, outcomeDone } from './layout.ts';
import { instantiate, markFailed, type WorkerTask } from './machine.ts';

const task = workerData as WorkerTask;
const control = new Int32Array(task.memory.buffer, 0, controlReady / 4 + 1);
try {
  const run = instantiate(task.kernels, task.memory, task.native, task.place);
  if (run.serve(task.thread, task.threads) !== outcomeDone) markFailed(control, task.thread);
} catch (error) {
  markFailed(control, task.thread);
  throw error;
}
