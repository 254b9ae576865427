// What the lab needs of the process it runs in, and how it is cancelled.

import { CancelledError } from '../protocol/errors.ts';

/** Times in milliseconds. */
export interface LabSurroundings {
  /** Monotonic clock. */
  readonly clock: () => number;
  /** Lets waiting messages be handled. */
  readonly breathe: () => Promise<void>;
  /**
   * Begins to watch what else the machine does; the function that is returned says how many processors other programs used since
   * then. Absent where the system does not tell.
   */
  readonly watchOthers?: () => () => number | null;
}

const cancelled = (): CancelledError => new CancelledError('The measurement was cancelled: nothing of it is kept.');

/** Says to whoever measures that it should end. */
export class LabControl {
  #cancelled = false;
  #cancel: (error: CancelledError) => void = () => undefined;
  /** Rejects when the lab is cancelled; never resolves. */
  readonly cancellation: Promise<never>;

  constructor() {
    this.cancellation = new Promise<never>((_, reject) => (this.#cancel = reject));
    this.cancellation.catch(() => undefined);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#cancel(cancelled());
  }

  /** Throws CancelledError once it has been cancelled. */
  check(): void {
    if (this.#cancelled) throw cancelled();
  }
}
