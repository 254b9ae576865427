// A job is one piece of long work with a name the caller chose: it reports progress and can be cancelled.

import { Listeners } from '../protocol/listeners.ts';
import { CancelledError } from '../protocol/errors.ts';
import type { Progress } from '../protocol/data.ts';

export class Job {
  readonly id: string;
  readonly #controller = new AbortController();
  readonly #emit: (progress: Progress) => void;

  constructor(id: string, emit: (progress: Progress) => void) {
    this.id = id;
    this.#emit = emit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** @throws CancelledError once the job was cancelled. */
  throwIfCancelled(): void {
    if (this.signal.aborted) throw new CancelledError();
  }

  /** Starts a stage; the returned function reports the share of it that is done (0 … 1). */
  stage(name: string): (share: number, detail?: string) => void {
    const startedAt = performance.now();
    this.#emit({ stage: name, share: null, secondsLeft: null });
    return (share, detail) => {
      const seconds = (performance.now() - startedAt) / 1000;
      const secondsLeft = share > 0.01 ? (seconds * (1 - share)) / share : null;
      this.#emit({ stage: detail ?? name, share, secondsLeft });
    };
  }
}

/** The jobs that are running, by name. */
export class Jobs {
  readonly #running = new Map<string, { readonly job: Job; readonly ended: Promise<unknown> }>();
  readonly #listeners = new Listeners<{ job: string; progress: Progress }>();
  #stopped = false;

  /** Whether no more is begun. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Runs `work` as a job; it can be cancelled by name until it ends. @throws CancelledError then. */
  async run<T>(id: string, work: (job: Job) => Promise<T>): Promise<T> {
    if (this.#stopped) throw new CancelledError();
    const job = new Job(id, (progress) => this.#listeners.emit({ job: id, progress }));
    const ended = work(job);
    this.#running.set(id, { job, ended });
    try {
      return await ended;
    } catch (error) {
      // Whatever a cancelled job fails with, it failed because it was cancelled.
      job.throwIfCancelled();
      throw error;
    } finally {
      if (this.#running.get(id)?.job === job) this.#running.delete(id);
    }
  }

  cancel(id: string): void {
    this.#running.get(id)?.job.cancel();
  }

  /** Cancels everything, also what would come, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const running = [...this.#running.values()];
    for (const { job } of running) job.cancel();
    await Promise.allSettled(running.map(({ ended }) => ended));
  }

  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void {
    return this.#listeners.add(listener);
  }
}
