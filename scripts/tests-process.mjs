// Loaded by `npm test` into each process of the engine's tests.

import { isMainThread, Worker } from 'node:worker_threads';

// Test files share what Node has compiled of the engine's modules; the programs they start do not by themselves, since some are
// weighed, and are lighter with modules that are compiled already.
delete process.env['NODE_COMPILE_CACHE'];

// A test that computes without an end stops its own timers as well: a thread beside it ends the process then.
if (isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  new Worker(new URL('tests-watch.mjs', import.meta.url), {
    execArgv: [],
    workerData: { file: process.argv[1] },
  }).unref();
}
