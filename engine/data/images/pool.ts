// Worker threads that look at pictures and decode them. Tasks go to whichever thread is free and come back in the order
// they were given, with a few in flight: memory stays bounded however many pictures there are.

import { Worker } from 'node:worker_threads';
import { TrainyardError } from '../../protocol/errors.ts';
import type { DecodedBatch, PictureFacts, PictureShape } from './picture.ts';

export interface ExamineFiles {
  readonly kind: 'examine';
  readonly paths: readonly string[];
}

export interface ExaminedFile {
  /** SHA-256 of the file; empty if it could not be opened. */
  readonly hash: string;
  /** Bytes of the file, as far as it was read. */
  readonly bytes: number;
  readonly facts: PictureFacts;
}

export interface DecodeFiles {
  readonly kind: 'decode';
  readonly paths: readonly string[];
  readonly shape: PictureShape;
}

export interface FitPixels {
  readonly kind: 'fit';
  /** [count, height, width, channels] */
  readonly pixels: Uint8Array;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly shape: PictureShape;
}

export type PictureTask = ExamineFiles | DecodeFiles | FitPixels;

interface Results {
  readonly examine: readonly ExaminedFile[];
  readonly decode: DecodedBatch;
  readonly fit: DecodedBatch;
}

interface Waiting {
  readonly task: PictureTask;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Threads at most: from here on the disk is the limit, and each may hold a large picture. */
const mostThreads = 8;
/** Tasks in flight for each thread: one at work, one ready. */
const tasksPerThread = 2;

export class PicturePool {
  readonly threads: number;
  readonly #workers: { readonly worker: Worker; current: Waiting | null }[] = [];
  readonly #queue: Waiting[] = [];
  #failure: Error | null = null;

  constructor(threads: number) {
    this.threads = Math.max(1, Math.min(mostThreads, threads));
  }

  /** Runs one task. @throws TrainyardError if its thread ended. */
  run<T extends PictureTask>(task: T): Promise<Results[T['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#queue.push({ task, resolve, reject });
      this.#next();
    });
  }

  /** Runs tasks, their results in the tasks' order. */
  async *inOrder<T extends PictureTask>(tasks: Iterable<T> | AsyncIterable<T>): AsyncGenerator<Results[T['kind']]> {
    const flying: Promise<Results[T['kind']]>[] = [];
    for await (const task of tasks) {
      const result = this.run(task);
      // Awaited below, in its turn.
      result.catch(() => undefined);
      flying.push(result);
      if (flying.length > tasksPerThread * this.threads) yield (await flying.shift()) as Results[T['kind']];
    }
    for (const result of flying) yield await result;
  }

  /** Ends all threads, whatever they are at. */
  async close(): Promise<void> {
    this.#fail(new TrainyardError('data.pictures', 'Reading pictures was stopped.'));
    await Promise.all(this.#workers.map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    if (this.#queue.length === 0) return;
    const free = this.#workers.find(({ current }) => current === null) ?? this.#add();
    const waiting = free === null ? undefined : this.#queue.shift();
    if (free === null || waiting === undefined) return;
    free.current = waiting;
    const moved = 'pixels' in waiting.task ? [waiting.task.pixels.buffer as ArrayBuffer] : [];
    free.worker.postMessage(waiting.task, moved);
  }

  /** A new thread, or null if there are enough. */
  #add(): { readonly worker: Worker; current: Waiting | null } | null {
    if (this.#workers.length >= this.threads) return null;
    // No flags of the parent: some of them (test runners') make a worker fail before it starts.
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { execArgv: [] });
    const member: { readonly worker: Worker; current: Waiting | null } = { worker, current: null };
    worker.on('message', (result: unknown) => {
      const { current } = member;
      member.current = null;
      current?.resolve(result as never);
      this.#next();
    });
    worker.on('error', (error) => this.#fail(ended(error)));
    worker.on('exit', () => this.#fail(ended()));
    this.#workers.push(member);
    return member;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { current } of this.#workers) current?.reject(this.#failure);
    for (const { reject } of this.#queue.splice(0)) reject(this.#failure);
  }
}

function ended(cause?: Error): TrainyardError {
  return new TrainyardError(
    'data.pictures',
    `A thread that reads pictures ended unexpectedly${cause === undefined ? '' : `: ${cause.message}`}.`,
    'Try again; if it happens again, import half of the pictures to find the one at fault.',
    { cause },
  );
}
