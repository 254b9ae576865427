// The arithmetic under the charts: smoothing, thinning to the pixels there are, looking up, axis ranges, figures for export.
// Thinning keeps the lowest and highest value of every pixel column, so no spike is ever lost.

import type { Figures } from '../pane/figures.ts';

export interface Curve {
  readonly id: string;
  readonly label: string;
  /** Name of a colour token: `train`, `validation`, `run-a`, … */
  readonly token: string;
  readonly dash: readonly number[];
  readonly width?: number;
  /** Ascending. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** Noisy: smoothing applies and the raw values show as a band. */
  readonly noisy?: boolean;
  /** Its name at the line's end, where the whole one would take the room of the chart. */
  readonly short?: string;
  /** Value told at the line's end, where it is not the last of `y`. */
  readonly last?: number;
  /** Index of the best point, marked with a hollow diamond. */
  readonly best?: number;
  /** Measured places are marked; `hollow` ones stand for what is not. */
  readonly points?: 'square' | 'disc' | 'triangle';
  readonly hollow?: boolean;
  /** Radius of each point in pixels, by default 3. */
  readonly radii?: readonly number[];
  /** false: points alone, each a thing of its own. */
  readonly line?: false;
  /** What each point is called. */
  readonly names?: readonly string[];
  /** How far each value spreads, drawn as a band. */
  readonly spread?: { readonly low: readonly number[]; readonly high: readonly number[] };
  /** Stacked: an area from here up to here + `y`, named inside where there is room. */
  readonly base?: readonly number[];
  /** Of an area, 0 … 1. */
  readonly opacity?: number;
  /** Label at the line's end in the colour of text (where the line's own is too faint for letters). */
  readonly inkLabel?: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Lowest and highest value of each pixel column that has points. */
export interface Band {
  readonly x: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** Points of a curve for which the smoothing factor is meant as it stands. */
const usualPoints = 200;

/**
 * Exponential mean with its start corrected; `strength` 0 (none) … 0.99. Denser curves are smoothed over more points, so
 * that a strength looks the same for any number of them. Values that are no numbers stay out of the mean.
 */
export function smooth(values: readonly number[], strength: number): readonly number[] {
  if (strength <= 0) return values;
  const factor = 1 - (1 - strength) / Math.max(1, values.length / usualPoints);
  let mean = 0;
  let weight = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    mean = factor * mean + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    return mean / weight;
  });
}

/** The value a curve ended at, as it was recorded: never a smoothed one. */
export function lastValue({ y, last }: Pick<Curve, 'y' | 'last'>): number | undefined {
  return last ?? y.at(-1);
}

/** Index of the value nearest to `target` in ascending `x`; −1 in an empty list. */
export function nearest(x: readonly number[], target: number): number {
  if (x.length === 0) return -1;
  let low = 0;
  let high = x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < target) low = middle + 1;
    else high = middle;
  }
  return low > 0 && target - x[low - 1] < x[low] - target ? low - 1 : low;
}

/** Indices [start, end) of the points in a range, and one more on either side so that lines run to the edge. */
function visible(x: readonly number[], from: number, to: number): readonly [number, number] {
  let start = 0;
  let end = x.length;
  while (start < end && x[start] < from) start++;
  while (end > start && x[end - 1] > to) end--;
  return [Math.max(0, start - 1), Math.min(x.length, end + 1)];
}

/** Points of a line: all of them up to two a pixel, else the extremes of every pixel column in the order they came. */
export function thinLine(
  x: readonly number[],
  y: readonly number[],
  from: number,
  to: number,
  pixels: number,
): Point[] {
  const [start, end] = visible(x, from, to);
  const points: Point[] = [];
  if (end - start <= 2 * pixels) {
    for (let i = start; i < end; i++) points.push({ x: x[i], y: y[i] });
    return points;
  }
  forColumns(x, from, to, pixels, start, end, (first, last) => {
    let lowest = first;
    let highest = first;
    for (let i = first; i < last; i++) {
      if (y[i] < y[lowest]) lowest = i;
      if (y[i] > y[highest]) highest = i;
    }
    const [early, late] = lowest < highest ? [lowest, highest] : [highest, lowest];
    points.push({ x: x[early], y: y[early] });
    if (late !== early) points.push({ x: x[late], y: y[late] });
  });
  return points;
}

/** Range of the raw values around the mean, three pixels a column so that it reads as a band. */
export function thinBand(x: readonly number[], y: readonly number[], from: number, to: number, pixels: number): Band {
  const [start, end] = visible(x, from, to);
  const band = { x: [] as number[], low: [] as number[], high: [] as number[] };
  forColumns(x, from, to, Math.max(1, Math.round(pixels / 3)), start, end, (first, last) => {
    let low = Infinity;
    let high = -Infinity;
    for (let i = first; i < last; i++) {
      if (y[i] < low) low = y[i];
      if (y[i] > high) high = y[i];
    }
    if (low > high) return;
    band.x.push((x[first] + x[last - 1]) / 2);
    band.low.push(low);
    band.high.push(high);
  });
  return band;
}

function forColumns(
  x: readonly number[],
  from: number,
  to: number,
  columns: number,
  start: number,
  end: number,
  take: (first: number, last: number) => void,
): void {
  const size = (to - from) / columns || 1;
  let first = start;
  while (first < end) {
    const column = Math.floor((x[first] - from) / size);
    let last = first + 1;
    while (last < end && Math.floor((x[last] - from) / size) === column) last++;
    take(first, last);
    first = last;
  }
}

export interface Range {
  readonly minimum: number;
  readonly maximum: number;
}

/** Smallest range of round numbers around the values; at least `within` so that a live axis only ever grows. */
export function niceRange(values: Range, within?: Range | null): Range {
  let { minimum, maximum } = values;
  if (within) {
    minimum = Math.min(minimum, within.minimum);
    maximum = Math.max(maximum, within.maximum);
  }
  if (!Number.isFinite(minimum) || !Number.isFinite(maximum)) return { minimum: 0, maximum: 1 };
  if (minimum === maximum) {
    const room = Math.abs(minimum) * 0.1 || 1;
    return niceRange({ minimum: minimum - room, maximum: maximum + room });
  }
  const rough = (maximum - minimum) / 5;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * (rough / decade > 5 ? 10 : rough / decade > 2 ? 5 : rough / decade > 1 ? 2 : 1);
  const round = (value: number): number => Number(value.toPrecision(12));
  return {
    minimum: round(Math.floor(minimum / step + 1e-9) * step),
    maximum: round(Math.ceil(maximum / step - 1e-9) * step),
  };
}

/** Range of the values shown between two x; only positive ones count on a logarithmic axis. */
export function valueRange(
  curves: readonly Pick<Curve, 'x' | 'y'>[],
  from: number,
  to: number,
  positive: boolean,
): Range {
  let minimum = Infinity;
  let maximum = -Infinity;
  for (const { x, y } of curves) {
    for (let i = 0; i < x.length; i++) {
      if (x[i] < from || x[i] > to || !Number.isFinite(y[i]) || (positive && y[i] <= 0)) continue;
      if (y[i] < minimum) minimum = y[i];
      if (y[i] > maximum) maximum = y[i];
    }
  }
  return { minimum, maximum };
}

/** A column of `x` and one a curve, with a row for every x that any of them has. */
export function figuresOf(xTitle: string, curves: readonly Curve[]): Figures {
  const rows = new Map<number, (number | null)[]>();
  curves.forEach((curve, column) => {
    curve.x.forEach((x, i) => {
      const row = rows.get(x) ?? curves.map((): number | null => null);
      row[column] = curve.y[i];
      rows.set(x, row);
    });
  });
  return {
    columns: [xTitle, ...curves.map((curve) => curve.label)],
    rows: [...rows].sort(([a], [b]) => a - b).map(([x, values]) => [x, ...values]),
  };
}
