// In which order an epoch visits the rows: windows of rows that are resident together, in shuffled order, and the rows of each
// shuffled in it, where texts differ in length then dealt to batches of one bucket. A function of seed, epoch, the size of the windows
// and, with buckets, the batch alone, never of the device; so the number of rows visited is all a checkpoint has to note of the place.

import { shuffle, streams } from '../optim/random.ts';
import { deal, type Dealing } from './buckets.ts';
import { windowsOf, type RowRange } from './resident-rows.ts';

export interface TrainedRows {
  /** Rows of the training split, which stand in front of all others. */
  readonly rows: number;
  /** Rows at its end that no step takes: a remainder of one where batches have statistics. */
  readonly leftOut: number;
  readonly seed: number;
  /** Rows are dealt to batches by the length of their text. Absent: they are not. */
  readonly dealing?: Dealing;
}

/** Where an epoch goes on. */
export interface RowPlace {
  /** The window, and the rows of it that have been visited. */
  readonly window: number;
  readonly from: number;
  /** The window that comes after it, if any. */
  readonly next: number | null;
}

export class RowOrder {
  readonly windows: readonly RowRange[];
  /** Rows of a window at most. */
  readonly windowRows: number;
  readonly #rows: TrainedRows;

  /** `windowRows`: a multiple of the batch, or all rows. */
  constructor(rows: TrainedRows, windowRows: number) {
    this.windowRows = Math.min(windowRows, rows.rows);
    this.windows = windowsOf({ start: 0, end: rows.rows }, this.windowRows);
    this.#rows = rows;
  }

  /** Rows an epoch trains on. */
  get total(): number {
    return this.#rows.rows - this.#rows.leftOut;
  }

  /** Rows of a window that are trained on. */
  countOf(window: number): number {
    const { start, end } = this.windows[window];
    return Math.min(end, this.total) - start;
  }

  /** The windows in the order in which an epoch visits them. */
  windowsIn(epoch: number): Uint32Array {
    const order = Uint32Array.from(this.windows.keys());
    shuffle(order, this.#rows.seed, streams.shuffle, epoch);
    return order;
  }

  /** Where an epoch goes on after its first `done` rows, of which there have to be fewer than `total`. */
  placeOf(epoch: number, done: number): RowPlace {
    const order = this.windowsIn(epoch);
    let before = 0;
    for (const [position, window] of order.entries()) {
      const count = this.countOf(window);
      if (done < before + count) return { window, from: done - before, next: order.at(position + 1) ?? null };
      before += count;
    }
    throw new RangeError(`An epoch has ${this.total} rows: none comes after ${done}.`);
  }

  /** Rows that an epoch has visited after so many windows and `rows` rows of the next. */
  doneAfter(epoch: number, windows: number, rows: number): number {
    const order = this.windowsIn(epoch);
    const whole = order.subarray(0, windows).reduce((sum, window) => sum + this.countOf(window), 0);
    return whole + (windows < order.length ? Math.min(rows, this.countOf(order[windows])) : 0);
  }

  /** The rows of a window in the order of an epoch; as many as `countOf` says are trained on. */
  rowsOf(window: number, epoch: number): Uint32Array {
    const { start, end } = this.windows[window];
    const rows = new Uint32Array(end - start);
    for (let i = 0; i < rows.length; i++) rows[i] = start + i;
    const { seed, dealing } = this.#rows;
    shuffle(rows, seed, streams.shuffle + 1 + window, epoch);
    if (dealing) deal(rows, dealing, { seed, stream: streams.buckets + window, epoch });
    return rows;
  }
}
