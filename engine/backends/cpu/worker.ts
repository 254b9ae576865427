// Entry of a CPU worker thread: makes its own instance of the kernels over the shared memory and serves submits until told
// to stop. It never returns to its event loop in between, so all communication is by atomics (layout.ts).

import { workerData } from 'node:worker_threads';
import { controlReady, outcomeDone } from './layout.ts';
import { instantiate, markFailed, type WorkerTask } from './machine.ts';

const task = workerData as WorkerTask;
const control = new Int32Array(task.memory.buffer, 0, controlReady / 4 + 1);
let done = false;
// However it leaves: the others wait at a barrier, where they hear of no event.
process.once('exit', () => {
  if (!done) markFailed(control, task.thread);
});
const run = instantiate(task.kernels, task.memory, task.native, task.place);
done = run.serve(task.thread, task.threads) === outcomeDone;
