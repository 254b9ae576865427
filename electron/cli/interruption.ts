// What ends a command before its time: a signal, or standard output that takes no more. Whoever has something to keep
// listens; where nobody does, the command ends at once. docs/command-line.md lists the exit codes.

import os from 'node:os';
import process from 'node:process';
import { CancelledError, type TrainyardError } from '../../engine/protocol/errors.ts';

export type Cause =
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  /** Whoever read standard output has gone (`| head`), or the terminal has. */
  | { readonly kind: 'reader' }
  /** Standard output cannot be written. */
  | { readonly kind: 'output'; readonly error: TrainyardError };

/** As shells do: 128 and the number of the signal; a closed reader counts as SIGPIPE, on every system. */
const readerGone = 128 + 13;

/** All mean the same: stop, and keep what there is. */
const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What is being kept after a second signal has so long; then a further one ends the process as it is. */
const lastSignalMilliseconds = 5_000;

/** One press of Ctrl-C arrives more than once: from the terminal, from npm, from the set-up script. */
const sameSignalMilliseconds = 500;

/** `again`: it has been asked for before; now it should be quick. */
export type StopListener = (again: boolean) => void;

export class Interruption {
  #cause: Cause | null = null;
  #raisedAt = 0;
  #deafMilliseconds = 0;
  #listeners: StopListener[] = [];
  #giveUp: (error: Error) => void = () => undefined;
  readonly #onSignal = (signal: NodeJS.Signals): void => this.raise({ kind: 'signal', signal });
  /** Rejects when something ends the command and nobody listens. */
  readonly unheard: Promise<never>;

  constructor() {
    this.unheard = new Promise<never>((_resolve, reject) => (this.#giveUp = reject));
    this.unheard.catch(() => undefined);
  }

  get cause(): Cause | null {
    return this.#cause;
  }

  /** The exit code that the cause asks for. */
  get exitCode(): number {
    switch (this.#cause?.kind) {
      case undefined:
        return 0;
      case 'signal':
        return 128 + os.constants.signals[this.#cause.signal];
      case 'reader':
        return readerGone;
      case 'output':
        return 1;
    }
  }

  watchSignals(): void {
    for (const signal of signals) process.on(signal, this.#onSignal);
  }

  /** Runs what holds the thread and keeps nothing, such as planning a model: a signal ends the process at once meanwhile, as the system has it. */
  whileComputing<T>(work: () => T): T {
    for (const signal of signals) process.off(signal, this.#onSignal);
    try {
      return work();
    } finally {
      this.watchSignals();
    }
  }

  raise(cause: Cause): void {
    const now = performance.now();
    const again = this.#cause !== null;
    if (again && (cause.kind !== 'signal' || now - this.#raisedAt < this.#deafMilliseconds)) return;
    const last = this.#deafMilliseconds === lastSignalMilliseconds;
    this.#deafMilliseconds = again ? lastSignalMilliseconds : sameSignalMilliseconds;
    this.#raisedAt = now;
    this.#cause ??= cause;
    if (last || this.#listeners.length === 0) this.#giveUp(new CancelledError('Cancelled.'));
    for (const listener of [...this.#listeners]) listener(again);
  }

  /** Calls `listener` from now on, at once if there is a cause already. Returns what ends that. */
  listen(listener: StopListener): () => void {
    this.#listeners.push(listener);
    if (this.#cause !== null) listener(false);
    return () => (this.#listeners = this.#listeners.filter((other) => other !== listener));
  }

  /** Resolves with the next cause, whatever there was before. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(() => resolve()));
  }

  /** Throws CancelledError if there is a cause. */
  check(): void {
    if (this.#cause !== null) throw new CancelledError('Cancelled.');
  }
}
