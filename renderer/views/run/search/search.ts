// What the panes of a search draw: places of trials, lines of the best, words of why one was stopped. A pane draws some thousands of points
// and some hundreds of lines at most, whatever the number of trials: the best are always among them.

import { ownValue } from '../../../../engine/protocol/own.ts';
import type { Trial } from '../../../../engine/protocol/search.ts';
import type { Value } from '../../../../engine/settings/field.ts';
import { placeOfValue, valueAtPlace, type Dimension } from '../../../../engine/search/space.ts';
import { fixed, short } from '../../../lib/format.ts';

/** Trials that are drawn in colour. */
export const bestShown = 20;
/** Points of a pane, and lines, at most. */
export const mostPoints = 3_000;
export const mostLines = 400;

export const isCompleted = ({ state }: Trial): boolean => state === 'completed';

/** The best so many, the best one first. */
export function bestOf(trials: readonly Trial[], count: number): readonly Trial[] {
  return trials
    .filter(isCompleted)
    .sort((one, other) => one.score! - other.score!)
    .slice(0, count);
}

/** At most so many, evenly over all. */
export function thinned<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  const every = items.length / most;
  return Array.from({ length: most }, (_, at) => items[Math.floor(at * every)]);
}

/** From the best score to one that nine of ten trials stay below: what is worse stands at the edge. */
export function scoreSpan(trials: readonly Trial[]): readonly [low: number, high: number] {
  const completed = trials.filter(isCompleted);
  const counted = completed.length > 0 ? completed : trials;
  const scores = counted.flatMap(({ score }) => (score === null ? [] : [score])).sort((a, b) => a - b);
  if (scores.length === 0) return [0, 1];
  const [low, high] = [scores[0], scores[Math.floor(0.9 * (scores.length - 1))]];
  const room = high - low || Math.abs(low) || 1;
  // Words stand below the best.
  return [low - 0.12 * room, high + 0.05 * room];
}

/** Steps of the best so far: [trial, score] where it changed. */
export function bestSoFar(trials: readonly Trial[]): readonly (readonly [trial: number, score: number])[] {
  const steps: (readonly [number, number])[] = [];
  for (const { trial, score, state } of trials)
    if (state === 'completed' && score! < (steps.at(-1)?.[1] ?? Infinity)) steps.push([trial, score!]);
  return steps;
}

/** A setting of the space. */
export interface Axis {
  readonly name: string;
  readonly label: string;
  readonly dimension: Dimension;
}

/** What people call a setting; one that the space has not is called what it is. */
export const labelOf = (axes: readonly Axis[], name: string): string =>
  axes.find((axis) => axis.name === name)?.label ?? name;

/** What the trial has there; undefined: the setting does not count for it. */
export const settingOf = ({ settings }: Pick<Trial, 'settings'>, { name }: Pick<Axis, 'name'>): Value | undefined =>
  ownValue(settings, name);

/** 0 … 1 along an axis; null where the setting does not count for the trial. */
export function placeOn(axis: Axis, trial: Trial): number | null {
  const value = settingOf(trial, axis);
  const place = value === undefined ? NaN : placeOfValue(axis.dimension, value);
  return Number.isNaN(place) ? null : place;
}

export const valueText = (value: Value): string => (typeof value === 'number' ? short(value, 3) : String(value));

/** What stands at the ends of an axis. */
export const endsOf = (dimension: Dimension): readonly [low: string, high: string] => [
  valueText(valueAtPlace(dimension, 0)),
  valueText(valueAtPlace(dimension, 1)),
];

/** How far a trial came. */
export function reachedText({ state, note }: Trial): string {
  if (state === 'failed') return `failed: ${note}`;
  return state === 'stopped' ? `stopped ${note}` : note === '' ? 'all' : note;
}

/** Shares above this are told. */
export const shareText = (share: number): string => `${fixed(100 * share)} %`;

/** Completed trials before importance says anything. */
export const enoughTrials = 12;
