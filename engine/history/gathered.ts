// The points of a run as they are read, a few bytes each: a run of a hundred thousand epochs has a million, and as objects they took
// hundreds of megabytes where a chart draws some thousand of them.

import type { MetricPoint } from '../protocol/runs.ts';
import { thinCurve } from '../protocol/thin-curve.ts';

const firstRoom = 64;

/** Numbers in the order in which they came. */
class Numbers {
  #values = new Float64Array(firstRoom);
  length = 0;

  at(index: number): number {
    return this.#values[index];
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const more = new Float64Array(2 * this.length);
      more.set(this.#values);
      this.#values = more;
    }
    this.#values[this.length++] = value;
  }
}

/** Values of one series, each with the moment it belongs to. */
interface Values {
  readonly value: Numbers;
  readonly moment: Numbers;
}

export class GatheredPoints {
  readonly #step = new Numbers();
  readonly #epoch = new Numbers();
  readonly #seconds = new Numbers();
  readonly #series = new Map<string, Values>();

  /** A new moment, to which the values belong that are added next. */
  moment(step: number, epoch: number, seconds: number): void {
    this.#step.push(step);
    this.#epoch.push(epoch);
    this.#seconds.push(seconds);
  }

  add(series: string, value: number): void {
    let values = this.#series.get(series);
    if (values === undefined) this.#series.set(series, (values = { value: new Numbers(), moment: new Numbers() }));
    const now = this.#step.length - 1;
    const last = values.moment.length - 1;
    // A run that continues from the very end of an epoch reports that epoch's values again: the last one counts.
    if (last >= 0 && this.#step.at(values.moment.at(last)) === this.#step.at(now)) {
      values.value.length = values.moment.length = last;
    }
    values.value.push(value);
    values.moment.push(now);
  }

  /** Series after series, each thinned to so many points. */
  points(limit: number): readonly MetricPoint[] {
    return [...this.#series].flatMap(([series, { value, moment }]) => {
      const stepAt = (index: number): number => this.#step.at(moment.at(index));
      const valueAt = (index: number): number => value.at(index);
      return thinCurve(value.length, stepAt, valueAt, limit).map((index) => {
        const at = moment.at(index);
        const [epoch, seconds] = [this.#epoch.at(at), this.#seconds.at(at)];
        return { series, step: stepAt(index), epoch, seconds, value: valueAt(index) };
      });
    });
  }
}
