// What others may ask of a running trainer, and the little of the surroundings it needs: a clock and a way to let
// messages in. The engine itself knows neither Node nor a browser.

import type { HostSpending } from '../protocol/bill.ts';

/** Times in milliseconds. */
export interface Surroundings {
  /** Monotonic clock. */
  readonly clock: () => number;
  /** Wall clock, since 1970. */
  readonly now: () => number;
  /** Lets waiting messages be handled; resolves right after. */
  readonly breathe: () => Promise<void>;
  /** What this process has used since it began; absent where it cannot be told. */
  readonly used?: () => Pick<HostSpending, 'cpuSeconds' | 'peakBytes'>;
}

/** Pause, resume and stop of one run. */
export class RunControl {
  #stopped = false;
  #abandoned = false;
  #paused = false;
  #waiting: (() => void)[] = [];
  #onStop: () => void = () => undefined;

  get stopRequested(): boolean {
    return this.#stopped;
  }

  /** Nobody wants what it has: a run that is stopped so need not score or write anything. */
  get abandoned(): boolean {
    return this.#abandoned;
  }

  get pauseRequested(): boolean {
    return this.#paused && !this.#stopped;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  /** Ends the run after the current submit; a paused run ends too. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#onStop();
    this.#wake();
  }

  /** Stops the run, which is given up. */
  abandon(): void {
    this.#abandoned = true;
    this.stop();
  }

  /** Calls `listener` when the run is asked to stop, while whatever it is at goes on. */
  onStop(listener: () => void): void {
    this.#onStop = listener;
  }

  /** Resolves when the run may go on. */
  async whileRunning(): Promise<void> {
    while (this.pauseRequested) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
