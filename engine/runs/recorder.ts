// Brings what a running run reports to the store: points, log lines and progress in batches, everything else in order
// with them. Each batch also brings back what other processes asked of the run. A store that dies is started again by the next
// call: what it did not answer is asked again, so that the run does not end with it.

import { TrainyardError } from '../protocol/errors.ts';
import type { LogLine, MetricPoint, RunFile, RunProgress, RunRequest, StoreService } from '../protocol/runs.ts';

/** Time between batches: what a sudden death may cost, and how soon a request from another process is seen. */
const batchMilliseconds = 250;

/** Waits before a store that was gone is asked again. */
const retryMilliseconds = [50, 500];

export interface Recorder {
  report(points: readonly MetricPoint[], progress: RunProgress): void;
  log(line: LogLine): void;
  /**
   * Written after all that was reported before it: a checkpoint never knows more than the curves. Resolves when it is kept, or
   * never will be.
   */
  file(file: RunFile, data: Uint8Array): Promise<void>;
  /** Does something with the store after all that was reported before. */
  inOrder(work: () => Promise<unknown>): void;
  /** Writes what is left. Rejects if anything could not be written. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  readonly store: StoreService;
  readonly run: number;
  readonly onRequest: (request: RunRequest) => void;
  /** Called once, with the first error of the store; nothing is written after it. */
  readonly onFailure: (error: unknown) => void;
}

export function createRecorder({ store, run, onRequest, onFailure }: RecorderOptions): Recorder {
  let points: MetricPoint[] = [];
  let lines: LogLine[] = [];
  let progress: RunProgress | undefined;
  let batchesWaiting = 0;
  let failure: { readonly error: unknown } | null = null;
  let chain: Promise<void> = Promise.resolve();

  const inOrder = (work: () => Promise<unknown>): void => {
    chain = chain.then(async () => {
      if (failure) return;
      try {
        await work();
      } catch (error) {
        failure = { error };
        onFailure(error);
      }
    });
  };

  // The batch is what was reported when it was queued: what comes later must not overtake what was queued in between.
  const queueBatch = (): void => {
    const batch = { run, points, log: lines, progress };
    points = [];
    lines = [];
    progress = undefined;
    batchesWaiting++;
    inOrder(async () => {
      batchesWaiting--;
      const { request } = await appendTo(store, batch);
      if (request !== null) onRequest(request);
    });
  };
  const timer = setInterval(() => {
    if (batchesWaiting === 0) queueBatch();
  }, batchMilliseconds);

  return {
    report(reported, latest) {
      points.push(...reported);
      progress = latest;
    },
    log: (line) => void lines.push(line),
    file(file, data) {
      queueBatch();
      inOrder(() => again(() => store.writeFile({ run, file, data })));
      return chain;
    },
    inOrder(work) {
      queueBatch();
      inOrder(work);
    },
    async close() {
      clearInterval(timer);
      queueBatch();
      await chain;
      if (failure) throw failure.error;
    },
  };
}

type Batch = Parameters<StoreService['append']>[0];

/** A batch is written as a whole or not at all: the store knows its last point if it died after it had written them. */
async function appendTo(store: StoreService, batch: Batch): ReturnType<StoreService['append']> {
  const { run, points } = batch;
  const last = points.at(-1);
  let died = false;
  return again(async () => {
    if (died && last !== undefined) {
      const kept = await store.metrics({ run, series: [last.series], afterStep: last.step - 1 });
      if (kept.some(({ step }) => step === last.step)) return store.append({ run, points: [] });
    }
    died = true;
    return store.append(batch);
  });
}

/** Does it again if the store was gone before it answered; its end may be known a moment later than that of its port. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (const wait of retryMilliseconds) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TrainyardError) || error.code !== 'internal.disconnected') throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return work();
}
