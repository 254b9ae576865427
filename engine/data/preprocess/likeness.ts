// Columns that were exchanged: numbers, or times, that lie as those of another column did in training and not as their own. Names cannot tell
// that. Of a file and of a request alike.

import type { DataWarning } from '../../protocol/data.ts';
import type { FeatureRecipe } from './recipe.ts';

/** In fewer rows mean and deviation tell nothing. */
export const fewestRows = 20;
/** Distance from its own column from which on a column is looked at: means twice the deviation apart. */
const far = 0.5;
/** Distance to another column that counts as its own, and how many times nearer that one has to be. */
const near = 0.1;
const timesNearer = 10;
/** Named in one message. */
const namedColumns = 3;

export interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

/** Bhattacharyya's distance of two normal distributions. */
function distance(one: Spread, other: Spread): number {
  // A file may hold one value over and over.
  const a = Math.max(one.deviation, other.deviation / 20) ** 2;
  const b = other.deviation ** 2;
  return (one.mean - other.mean) ** 2 / (4 * (a + b)) + Math.log((a + b) / (2 * Math.sqrt(a * b))) / 2;
}

export type Spreading = Extract<FeatureRecipe, { kind: 'number' | 'datetime' }>;

/** A column as training had it and as it is here; null: of too few rows. */
export interface SpreadColumn {
  readonly recipe: Spreading;
  readonly own: Spread | null;
}

/** Mean and deviation of the values that are there; null of too few. */
export function spreadOfValues(values: readonly (number | null)[]): Spread | null {
  const present = values.filter((value) => value !== null);
  if (present.length < fewestRows) return null;
  const mean = present.reduce((sum, value) => sum + value, 0) / present.length;
  const deviation = Math.sqrt(present.reduce((sum, value) => sum + (value - mean) ** 2, 0) / present.length);
  return Number.isFinite(mean) && Number.isFinite(deviation) ? { mean, deviation } : null;
}

/** A column that lies as others do, nearest first, and not as itself. */
interface Displaced {
  readonly recipe: Spreading;
  readonly own: Spread;
  readonly others: readonly Spreading[];
}

/**
 * Says which columns look like others that have left their place too: what is rare, or of other rows than training saw, looks like
 * some column as well, but none looks like it.
 */
export function likeOthers(columns: readonly SpreadColumn[]): readonly DataWarning[] {
  const exchanged = onlyExchanged(columns.flatMap((column) => displaced(column, columns)));
  return exchanged.slice(0, namedColumns).map(({ recipe, own, others: [{ column: like }] }) => ({
    code: 'like_other',
    message:
      recipe.kind === 'number'
        ? `${recipe.column} looks like ${like}: its mean is ${figure(own.mean)}, in training it was ${figure(recipe.mean)}. Were the two exchanged?`
        : `${recipe.column} looks like ${like}: its times are about ${day(own.mean)}, in training they were about ${day(recipe.mean)}. Were the two exchanged?`,
    columns: [recipe.column, like],
  }));
}

function displaced({ recipe, own }: SpreadColumn, columns: readonly SpreadColumn[]): readonly Displaced[] {
  const apart = own === null ? 0 : distance(own, recipe);
  if (own === null || apart < far) return [];
  const others = columns
    .filter((other) => other.recipe.kind === recipe.kind && other.recipe !== recipe)
    .map((other) => ({ recipe: other.recipe, to: distance(own, other.recipe) }))
    .filter(({ to }) => to < near && to * timesNearer < apart)
    .sort((one, other) => one.to - other.to);
  return [{ recipe, own, others: others.map((other) => other.recipe) }];
}

/** Those whose place another of them has taken, and that have taken the place of another: two columns, or more in a ring. */
function onlyExchanged(columns: readonly Displaced[]): readonly Displaced[] {
  const left = new Set(columns.map(({ recipe }) => recipe));
  const taken = new Set(columns.flatMap(({ others }) => others));
  const kept = columns
    .filter(({ recipe }) => taken.has(recipe))
    .map((column) => ({ ...column, others: column.others.filter((other) => left.has(other)) }))
    .filter(({ others }) => others.length > 0);
  const same =
    kept.length === columns.length && kept.every((one, at) => one.others.length === columns[at].others.length);
  return same ? kept : onlyExchanged(kept);
}

const figure = (value: number): string =>
  Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 });
const day = (time: number): string => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString().slice(0, 10);
};
