// What the panes of a search draw: places of trials, lines of the best, words of why one was stopped. A pane draws some thousands of points
// and some hundreds of lines at most, whatever the number of trials: the best are always among them.

import { ownValue } from '../../../../engine/protocol/own.ts';
import { byQuality, isBetter, type Trial } from '../../../../engine/protocol/search.ts';
import type { Value } from '../../../../engine/settings/field.ts';
import { placeOfValue, valueAtPlace, type Dimension } from '../../../../engine/search/space.ts';
import { fixed, short } from '../../../lib/format.ts';

/** Trials that are drawn in colour. */
export const bestShown = 20;
/** Points of a pane, and lines, at most. */
export const mostPoints = 2_000;
export const mostLines = 400;

export const isCompleted = ({ state }: Trial): boolean => state === 'completed';

/** Trials, and what several panes ask of them: found once, however many panes there are. */
export interface TrialsInView {
  /** By their numbers, as all but the last are. */
  readonly all: readonly Trial[];
  readonly completed: readonly Trial[];
  readonly others: readonly Trial[];
  /** Those that were completed, the best one first. */
  readonly ranked: readonly Trial[];
  /** Whether any has a score. */
  readonly scored: boolean;
  /** Of scores, as they are drawn. */
  readonly span: readonly [low: number, high: number];
}

export function viewOf(all: readonly Trial[]): TrialsInView {
  const completed = all.filter(isCompleted);
  const ranked = completed.toSorted(byQuality);
  const counted = ranked.length > 0 ? ranked : all;
  const scores = counted.flatMap(({ score }) => (score === null ? [] : [score]));
  scores.sort((a, b) => a - b);
  const others = all.filter((trial) => !isCompleted(trial));
  return { all, completed, others, ranked, scored: scores.length > 0, span: scoreSpan(scores) };
}

/** What stands where scores will be drawn. */
export const unscored = 'The first point arrives after the first trial.';

/** At most so many, evenly over all: those that are drawn stay the same while others come, until every second one of them is left out. */
export function thinned<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  let every = 2;
  while (items.length > most * every) every *= 2;
  return items.filter((_, at) => at % every === 0);
}

/** Where a score is drawn: beyond the span at its edge, as those are on the way that look better than any came to be. */
export const atEdge = ([low, high]: readonly [low: number, high: number], score: number): number =>
  Math.min(high, Math.max(low, score));

/** From the best score to one that nine of ten stay below: what is worse stands at the edge. `scores`: the best one first. */
function scoreSpan(scores: readonly number[]): readonly [low: number, high: number] {
  if (scores.length === 0) return [0, 1];
  const [low, high] = [scores[0], scores[Math.floor(0.9 * (scores.length - 1))]];
  const room = high - low || Math.abs(low) || 1;
  // Words stand below the best, where there is room: losses are not below 0.
  const lowest = low - 0.12 * room;
  return [low >= 0 ? Math.max(0, lowest) : lowest, high + 0.05 * room];
}

/** Steps of the best so far: [trial, score] where it changed. */
export function bestSoFar(trials: readonly Trial[]): readonly (readonly [trial: number, score: number])[] {
  const steps: (readonly [number, number])[] = [];
  let best: Trial | null = null;
  for (const trial of trials) {
    if (!isBetter(trial, best)) continue;
    best = trial;
    steps.push([trial.trial, trial.score!]);
  }
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

/** Names that stand beside an axis at most. */
const mostNames = 12;

/** The values of a choice, each where it stands; null: it is no choice, or of too many. */
export function namedPlaces(dimension: Dimension): readonly { readonly at: number; readonly text: string }[] | null {
  if (dimension.kind !== 'choice' || dimension.values.length > mostNames) return null;
  return dimension.values.map((value) => ({ at: placeOfValue(dimension, value), text: String(value) }));
}

/** Places of an axis that are marked, about so many: of choices and whole numbers each value once, where it stands. */
export function marksOf(dimension: Dimension, about: number): readonly number[] {
  const even = Array.from({ length: about + 1 }, (_, at) => at / about);
  if (dimension.kind === 'float') return even;
  const count = dimension.kind === 'choice' ? dimension.values.length : dimension.high - dimension.low + 1;
  const all = (): readonly Value[] =>
    dimension.kind === 'choice' ? dimension.values : Array.from({ length: count }, (_, at) => dimension.low + at);
  const marked = count <= about + 1 ? all() : even.map((place) => valueAtPlace(dimension, place));
  return [...new Set(marked)].map((value) => placeOfValue(dimension, value));
}

/** How far a trial came. */
export function reachedText({ state, note }: Trial): string {
  if (state === 'failed') return `failed: ${note}`;
  return state === 'stopped' ? `stopped ${note}` : note === '' ? 'all' : note;
}

/** Whether those that have a score have the same one. */
export const allAlike = (trials: readonly Trial[]): boolean =>
  new Set(trials.flatMap(({ score }) => (score === null ? [] : [score]))).size < 2;

/** Shares above this are told. */
export const shareText = (share: number): string => `${fixed(100 * share)} %`;
