// What measures has this machine to itself: nothing else of this home measures meanwhile, and the runs of this app wait. Labs, races and
// profiles of a step share it.

import { beginMeasuring, type MeasuringKind } from '../../engine/history/measuring.ts';
import { LabControl } from '../../engine/lab/control.ts';
import { refuseRuns } from '../../engine/lab/runs.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { RunManager } from '../../engine/runs/manager.ts';

export interface AloneParts {
  readonly home: string;
  readonly store: StoreService;
  readonly runs: Pick<RunManager, 'active' | 'hold'>;
}

export class Alone {
  readonly #parts: AloneParts;
  #current: LabControl | null = null;

  constructor(parts: AloneParts) {
    this.#parts = parts;
  }

  /**
   * Does work that measures; `control` ends it at once when it is cancelled. Throws `device.busy` where something measures already,
   * `input.measuring` and `input.run_active` where another process measures or trains.
   */
  async while<T>(what: MeasuringKind, work: (control: LabControl) => Promise<T>): Promise<T> {
    if (this.#current !== null) {
      throw new TrainyardError(
        'device.busy',
        'This machine is being measured already.',
        'Wait for its end, or cancel it.',
      );
    }
    const { home, store, runs } = this.#parts;
    const control = (this.#current = new LabControl());
    try {
      await refuseRuns(store, runs.active());
      const done = beginMeasuring(home, what);
      const holding = runs.hold();
      try {
        await Promise.race([holding, control.cancellation]);
        return await work(control);
      } finally {
        // Also where it was cancelled before all had paused.
        void holding.then((release) => release());
        done();
      }
    } finally {
      this.#current = null;
    }
  }

  /** Ends what measures. */
  cancel(): void {
    this.#current?.cancel();
  }
}
