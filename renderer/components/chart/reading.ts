// What a chart reads out at a place: the nearest point of every curve that reaches so far.

import { nearest } from './curves.ts';
import type { Curve } from './curves.ts';

export interface ReadValue {
  readonly line: Curve;
  readonly x: number;
  readonly value: number;
}

export interface Reading {
  readonly x: number;
  readonly values: readonly ReadValue[];
}

/** `span` is the length of the x axis: points a fiftieth of it away still count as being there. Null without curves. */
export function readAt(lines: readonly Curve[], x: number, span: number): Reading | null {
  const values = lines.flatMap((line): ReadValue[] => {
    const index = nearest(line.x, x);
    return index < 0 ? [] : [{ line, x: line.x[index], value: line.y[index] }];
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
