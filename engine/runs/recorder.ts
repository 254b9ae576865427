// Brings what a running run reports to the store: points, log lines and progress in batches, everything else in order
// with them. Each batch also brings back what other processes asked of the run.

import type { LogLine, MetricPoint, RunProgress, RunRequest, WrittenFile } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';

/** Time between batches, of which a sudden death may cost the last. */
const batchMilliseconds = 250;
/** The same where there is nothing to write: how soon a request from another process is seen. Each takes a core from training. */
const askMilliseconds = 1000;

export interface Recorder {
  report(points: readonly MetricPoint[], progress: RunProgress): void;
  log(line: LogLine): void;
  /**
   * Written after all that was reported before it: a checkpoint never knows more than the curves. Resolves when it is kept, or
   * never will be.
   */
  file(written: WrittenFile): Promise<void>;
  /** Does something with the store after all that was reported before. */
  inOrder(work: () => Promise<unknown>): void;
  /** Resolves when all that was asked for is done, or never will be. */
  done(): Promise<void>;
  /** Writes what is left. Rejects if anything could not be written. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  /** A patient one (patient-store.ts), so that the run does not end with a store that dies. */
  readonly store: Pick<StoreService, 'append' | 'writeFile'>;
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
  let lastBatch = -Infinity;
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
    lastBatch = performance.now();
    const batch = { run, points, log: lines, progress };
    points = [];
    lines = [];
    progress = undefined;
    batchesWaiting++;
    inOrder(async () => {
      batchesWaiting--;
      const { request } = await store.append(batch);
      if (request !== null) onRequest(request);
    });
  };
  const hasNews = (): boolean => points.length > 0 || lines.length > 0 || progress !== undefined;
  const timer = setInterval(() => {
    if (batchesWaiting > 0) return;
    // The timer is not exact to a millisecond.
    if (hasNews() || performance.now() - lastBatch > askMilliseconds - batchMilliseconds / 2) queueBatch();
  }, batchMilliseconds);

  return {
    report(reported, latest) {
      points.push(...reported);
      progress = latest;
    },
    log: (line) => void lines.push(line),
    file(written) {
      if (hasNews()) queueBatch();
      inOrder(() => store.writeFile({ run, ...written }));
      return chain;
    },
    inOrder(work) {
      if (hasNews()) queueBatch();
      inOrder(work);
    },
    done: () => chain,
    async close() {
      clearInterval(timer);
      queueBatch();
      await chain;
      if (failure) throw failure.error;
    },
  };
}
