// What a search may choose: a dimension a setting, by the setting's name. Samplers know dimensions as numbers of the unit interval alone;
// here stands what those mean. D dimensions.

import type { Value } from '../settings/field.ts';

interface Common {
  /** Only where other dimensions, which stand before it, have one of these values. */
  readonly when?: Readonly<Record<string, readonly Value[]>>;
}

export interface NumberDimension extends Common {
  readonly kind: 'float' | 'integer';
  readonly low: number;
  readonly high: number;
  /** Equal shares for equal ratios. */
  readonly log?: boolean;
}

export interface ChoiceDimension extends Common {
  readonly kind: 'choice';
  readonly values: readonly Value[];
}

export type Dimension = NumberDimension | ChoiceDimension;

/** By the names of settings, in the order in which they are chosen. */
export type Space = Readonly<Record<string, Dimension>>;

/** What a trial has of each dimension that counts for it. */
export type Chosen = Readonly<Record<string, Value>>;

/** [D] places in the unit interval; NaN where a dimension does not count. */
export type Point = Float64Array;

/** Significant digits that are written of a float: enough for any setting, and short to read. */
const digits = 4;

/** The ends of a number in the measure in which it is drawn evenly; a whole number has the room of half a step at each end. */
function endsOf({ kind, low, high, log }: NumberDimension): readonly [number, number] {
  const half = kind === 'integer' ? 0.5 : 0;
  const [from, to] = [low - half, high + half];
  return log ? [Math.log(from), Math.log(to)] : [from, to];
}

/** The value at a place of the unit interval. */
export function valueAtPlace(dimension: Dimension, place: number): Value {
  if (dimension.kind === 'choice') {
    const { values } = dimension;
    return values[Math.min(values.length - 1, Math.floor(place * values.length))];
  }
  const [from, to] = endsOf(dimension);
  const drawn = from + place * (to - from);
  const value = dimension.log ? Math.exp(drawn) : drawn;
  const { low, high } = dimension;
  const within = (number: number): number => Math.min(high, Math.max(low, number));
  return dimension.kind === 'integer' ? within(Math.round(value)) : within(Number(value.toPrecision(digits)));
}

/** Where a value stands: the middle of all places that mean it. NaN: the dimension has no such value. */
export function placeOfValue(dimension: Dimension, value: Value): number {
  const [low, high] = binOf(dimension, value);
  return dimension.kind === 'float' ? low : (low + high) / 2;
}

/** The places that mean a value; of a float one alone. */
export function binOf(dimension: Dimension, value: Value): readonly [low: number, high: number] {
  if (dimension.kind === 'choice') {
    const { values } = dimension;
    const at = values.indexOf(value);
    return at < 0 ? [NaN, NaN] : [at / values.length, (at + 1) / values.length];
  }
  const [from, to] = endsOf(dimension);
  const place = (number: number): number => {
    const at = ((dimension.log ? Math.log(number) : number) - from) / (to - from);
    return Math.min(1, Math.max(0, at));
  };
  if (typeof value !== 'number') return [NaN, NaN];
  return dimension.kind === 'integer' ? [place(value - 0.5), place(value + 0.5)] : [place(value), place(value)];
}

/** Whether a dimension counts beside what was chosen before it. */
export function counts({ when = {} }: Dimension, chosen: Chosen): boolean {
  return Object.entries(when).every(([name, values]) => name in chosen && values.includes(chosen[name]));
}

/** The settings at a place; what does not count is left out. */
export function chosenAt(space: Space, point: Point): Chosen {
  const chosen: Record<string, Value> = {};
  Object.entries(space).forEach(([name, dimension], at) => {
    if (counts(dimension, chosen)) chosen[name] = valueAtPlace(dimension, point[at]);
  });
  return chosen;
}

/** The place of settings; NaN for those that do not count. */
export function pointOf(space: Space, chosen: Chosen): Point {
  return Float64Array.from(Object.entries(space), ([name, dimension]) =>
    name in chosen ? placeOfValue(dimension, chosen[name]) : NaN,
  );
}

/** How many different settings there are; Infinity where a float has a say. */
export function sizeOf(space: Space): number {
  return Object.values(space).reduce((product, dimension) => {
    if (dimension.kind === 'choice') return product * dimension.values.length;
    if (dimension.kind === 'integer') return product * (dimension.high - dimension.low + 1);
    return dimension.low === dimension.high ? product : Infinity;
  }, 1);
}
