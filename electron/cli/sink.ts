// A standard stream that loses nothing: what is written waits in order for a slow reader, and the process ends only when
// all of it has gone out, or cannot any more.

import type { Writable } from 'node:stream';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { Cause } from './interruption.ts';

/** The reader has closed its end, or the terminal is gone. */
const closedCodes: readonly (string | undefined)[] = ['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED'];

export class Sink {
  readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  #failed = false;
  #waiting = 0;
  #drained: (() => void)[] = [];
  #onFailure: (cause: Cause) => void;

  constructor(stream: Writable, onFailure: (cause: Cause) => void) {
    this.stream = stream;
    this.#onFailure = onFailure;
    stream.on('error', (error: NodeJS.ErrnoException) => this.#fail(error));
    stream.on('drain', () => this.#wake());
  }

  write(data: string | Uint8Array): void {
    if (this.#failed) return;
    this.#waiting++;
    this.stream.write(data, () => {
      this.#waiting--;
      this.#wake();
    });
  }

  /** Resolves when more may be written: at once, unless the reader is slow. */
  async ready(): Promise<void> {
    while (!this.#failed && this.stream.writableNeedDrain) await this.#change();
  }

  /** Resolves when everything has been handed over, or can never be. */
  async drained(): Promise<void> {
    while (!this.#failed && this.#waiting > 0) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#wake();
    if (closedCodes.includes(error.code)) this.#onFailure({ kind: 'reader' });
    else this.#onFailure({ kind: 'output', error: unwritable('Standard output', error) });
  }
}

const reasons = new Map<string | undefined, string>([
  ['ENOSPC', 'no space is left on the device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'the file would be larger than is allowed'],
]);

/** Something takes no more of what is written to it, through no fault of what was asked. */
export function unwritable(what: string, error: NodeJS.ErrnoException): TrainyardError {
  const reason = reasons.get(error.code) ?? error.message.replace(/^\w+: /, '').replace(/, \w+$/, '');
  const hint = error.code === undefined ? 'Choose another place.' : 'Make room or choose another place.';
  return new TrainyardError('store.output', `${what} cannot be written: ${reason}.`, hint, { cause: error });
}
