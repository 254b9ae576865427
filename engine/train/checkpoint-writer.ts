// When checkpoints are written: every few seconds, no oftener than their size allows, and never one before whoever keeps them
// has kept the last. So at most one is on its way, however slow the disk.

import { sizeOf } from '../graph/op.ts';
import type { RunFile } from '../protocol/runs.ts';
import { layOutCheckpoint, type TrainingState } from './checkpoint.ts';
import type { Diary } from './diary.ts';
import type { Session } from './session.ts';
import { readInto, type Weights } from './weights.ts';

/** Time between checkpoints at least; the first comes sooner. */
const leastMilliseconds = 10_000;
const firstMilliseconds = 1_000;
/** Of those that are kept by themselves: epochs between them, and time at least, as what took less is trained again sooner. */
const usualEvery = 10;
const keptMilliseconds = 2_000;
/** Share of the time that writing them may hold the training up. */
const largestShare = 0.02;
/** Bytes that the head of a later file may have more: the names of the best weights. */
const longerHeader = 2 ** 16;

export interface CheckpointWriterOptions {
  readonly session: Pick<Session, 'executable' | 'plan' | 'training'>;
  /** Names of the tensors that the best weights will have. */
  readonly best: readonly string[];
  readonly clock: () => number;
  readonly diary: Pick<Diary, 'add' | 'checkpoint'>;
  /** Resolves when the file is kept, and its memory is free for the next one; nothing = at once. */
  readonly onFile: (event: { file: RunFile; data: Uint8Array }) => void | Promise<void>;
}

export class CheckpointWriter {
  readonly #options: CheckpointWriterOptions;
  #next: number;
  #nextKept: number;
  /** The last one is not kept yet. */
  #waiting = false;
  #kept: Promise<void> = Promise.resolve();
  /** What each file is written into once the one before it is kept: it is as large as all that it holds. */
  #memory = new ArrayBuffer(0);

  constructor(options: CheckpointWriterOptions) {
    this.#options = options;
    this.#next = options.clock() + firstMilliseconds;
    this.#nextKept = options.clock() + keptMilliseconds;
  }

  /** It is time for one. */
  get due(): boolean {
    return !this.#waiting && this.#options.clock() >= this.#next;
  }

  /** Writes one, once the last is kept. `reported`: called before it leaves, so that the history never lacks what it knows. */
  async write(state: TrainingState, best: Weights, reported: () => void): Promise<void> {
    await this.#write('checkpoint.bin', state, best, reported);
  }

  /**
   * Keeps the state after an epoch for good, if it is one of those that are to be kept. Its best weights are a file of their own,
   * and later ones may be better.
   */
  async keep(state: TrainingState, reported: () => void): Promise<void> {
    const { session, clock } = this.#options;
    const { every, budget } = session.training.checkpoints;
    if (budget === 0 || state.epoch % (every || usualEvery) !== 0) return;
    if (every === 0 && clock() < this.#nextKept) return;
    await this.#write(`epoch-${state.epoch}.bin`, state, {}, reported);
    this.#nextKept = clock() + keptMilliseconds;
  }

  async #write(file: RunFile, state: TrainingState, best: Weights, reported: () => void): Promise<void> {
    const { session, clock, diary, onFile } = this.#options;
    const asked = clock();
    await this.#kept;
    const start = clock();
    const { executable, plan } = session;
    const tensors = Object.fromEntries(plan.checkpoint.map((name) => [name, plan.tensors[name]]));
    const { file: data, places } = layOutCheckpoint({ state, best }, tensors, (bytes) => this.#room(bytes));
    await readInto(executable, plan, Object.fromEntries(plan.checkpoint.map((name) => [name, places[name]])));
    reported();
    const { byteLength } = data;
    this.#waiting = true;
    this.#kept = Promise.resolve(onFile({ file, data }))
      // Whoever keeps files tells of failures.
      .catch(() => undefined)
      .then(() => void (this.#waiting = false));
    const end = clock();
    if (file === 'checkpoint.bin') this.#next = end + Math.max(leastMilliseconds, (end - start) / largestShare);
    if (file === 'checkpoint.bin') diary.checkpoint(state.step, state.epoch, byteLength);
    diary.add('checkpoints', end - asked);
  }

  /** The first file has no best weights yet, later ones will. */
  #room(bytes: number): ArrayBuffer {
    const { session, best } = this.#options;
    const later = best.reduce((sum, name) => sum + 4 * sizeOf(session.plan.tensors[name].shape), 0);
    if (this.#memory.byteLength < bytes) this.#memory = new ArrayBuffer(bytes + later + longerHeader);
    return this.#memory;
  }
}
