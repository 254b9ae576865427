// What a chart reads out at a place: the nearest point of every curve that reaches so far, as it was recorded.

import { nearest } from './curves.ts';
import type { Curve } from './curves.ts';

export interface ReadValue {
  readonly line: Curve;
  readonly x: number;
  readonly value: number;
  /** Of a smoothed line, where it runs there. */
  readonly smoothed?: number;
}

export interface Reading {
  readonly x: number;
  readonly values: readonly ReadValue[];
}

/**
 * `recorded` are the curves as they were recorded, `lines` the same as they are drawn. `span` is the length of the x axis:
 * points a fiftieth of it away still count as being there. Null without curves.
 */
export function readAt(recorded: readonly Curve[], lines: readonly Curve[], x: number, span: number): Reading | null {
  const values = recorded.flatMap((curve, position): ReadValue[] => {
    const index = nearest(curve.x, x);
    if (index < 0) return [];
    const line = lines[position];
    const smoothed = line.y === curve.y ? {} : { smoothed: line.y[index] };
    return [{ line, x: curve.x[index], value: curve.y[index], ...smoothed }];
  });
  if (values.length === 0) return null;
  const closest = values.reduce((best, entry) => (Math.abs(entry.x - x) < Math.abs(best.x - x) ? entry : best));
  // A curve that ended long before has no value here.
  const spacing = Math.max(...lines.map((line) => (line.x.at(-1) ?? 0) / Math.max(1, line.x.length)));
  const reach = Math.max(spacing, span / 50);
  return { x: closest.x, values: values.filter((entry) => Math.abs(entry.x - closest.x) <= reach) };
}

/** Where the hairline stops with the keyboard: the points of the curve that has fewest, but more than one. */
export function stopsOf(lines: readonly Curve[]): readonly number[] {
  const several = lines.filter((line) => line.x.length > 1).sort((a, b) => a.x.length - b.x.length);
  return several[0]?.x ?? lines[0]?.x ?? [];
}
