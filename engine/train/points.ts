// Points of curves on their way: they wait until the next report leaves, a few times a second.

import type { MetricPoint } from '../protocol/runs.ts';

/** Reports leave at most this often. */
const reportMilliseconds = 100;

export class WaitingPoints {
  readonly #clock: () => number;
  readonly #onPoint: (point: MetricPoint) => void;
  #points: MetricPoint[] = [];
  #lastReport = -Infinity;

  /** `onPoint` hears of each at once. */
  constructor(clock: () => number, onPoint: (point: MetricPoint) => void = () => undefined) {
    this.#clock = clock;
    this.#onPoint = onPoint;
  }

  /** A value that is no finite number is no point. */
  add(point: MetricPoint): void {
    if (!Number.isFinite(point.value)) return;
    this.#points.push(point);
    this.#onPoint(point);
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
