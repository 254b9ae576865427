// Points of curves on their way: they wait until the next report leaves, once or twice a second.

import type { MetricPoint } from '../protocol/runs.ts';

/**
 * Milliseconds between reports: at first, and a part of the time gone by later, at most a second. What they lead to in window, main process
 * and store takes a core from a thread, for which all threads wait.
 */
const shortestMilliseconds = 500;
const longestMilliseconds = 1000;
const partOfTime = 0.1;

export class WaitingPoints {
  readonly #clock: () => number;
  readonly #onPoint: (point: MetricPoint) => void;
  #points: MetricPoint[] = [];
  #lastReport = -Infinity;
  readonly #begun: number;

  /** `onPoint` hears of each at once. */
  constructor(clock: () => number, onPoint: (point: MetricPoint) => void = () => undefined) {
    this.#clock = clock;
    this.#onPoint = onPoint;
    this.#begun = clock();
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
    const pause = Math.min(longestMilliseconds, Math.max(shortestMilliseconds, partOfTime * (time - this.#begun)));
    if (!now && time - this.#lastReport < pause) return;
    this.#lastReport = time;
    const points = this.#points;
    this.#points = [];
    send(points);
  }
}
