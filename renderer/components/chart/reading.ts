// What a chart reads out at a place: the nearest point of every curve that reaches so far, as it was recorded.

import { nearest } from './curves.ts';
import type { Curve } from './curves.ts';

export interface ReadValue {
  readonly line: Curve;
  readonly x: number;
  readonly value: number;
  /** Of a smoothed line, where it runs there. */
  readonly smoothed?: number;
  /** What the point is called, where it has a name of its own. */
  readonly name?: string;
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
    const smoothed = line.y === curve.y || curve.base ? {} : { smoothed: line.y[index] };
    const name = curve.names ? { name: curve.names[index] } : {};
    return [{ line, x: curve.x[index], value: curve.y[index], ...smoothed, ...name }];
  });
  if (values.length === 0) return null;
  const closest = values.reduce((best, entry) => (Math.abs(entry.x - x) < Math.abs(best.x - x) ? entry : best));
  // A curve that ended long before has no value here.
  const spacing = Math.max(...lines.map((line) => (line.x.at(-1) ?? 0) / Math.max(1, line.x.length)));
  const reach = Math.max(spacing, span / 50);
  return { x: closest.x, values: values.filter((entry) => Math.abs(entry.x - closest.x) <= reach) };
}

/**
 * Where the hairline stops with the keyboard: at points with names; else at `every` point of all curves, or at those of the curve that
 * has fewest, but more than one.
 */
export function stopsOf(lines: readonly Curve[], every = false): readonly number[] {
  const places = (of: readonly Curve[]): readonly number[] =>
    [...new Set(of.flatMap(({ x }) => x))].sort((a, b) => a - b);
  const named = lines.filter(({ names }) => names);
  if (named.length > 0 || every) return places(named.length > 0 ? named : lines);
  const several = lines.filter((line) => line.x.length > 1).sort((a, b) => a.x.length - b.x.length);
  return several[0]?.x ?? lines[0]?.x ?? [];
}
