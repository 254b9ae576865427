// Points of curves on their way: they wait until the next report leaves, a few times a second.

import type { MetricPoint } from '../protocol/runs.ts';

/** Reports leave at most this often. */
const reportMilliseconds = 100;

export class WaitingPoints {
  readonly #clock: () => number;
  #points: MetricPoint[] = [];
  #lastReport = -Infinity;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A value that is no finite number is no point. */
  add(point: MetricPoint): void {
    if (Number.isFinite(point.value)) this.#points.push(point);
  }

  /** Hands over what waits, if the last report is long enough ago; `now`: whenever it was. */
  report(now: boolean, send: (points: readonly MetricPoint[]) => void): void {
    const time = this.#clock();
    if (!now && time - this.#lastReport < reportMilliseconds) return;
    this.#lastReport = time;
    const points = this.#points;
    this.#points = [];
    send(points);
  }
}
