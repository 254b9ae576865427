// Permutation importance (Breiman 2001; Fisher, Rudin & Dominici 2019): how much worse the score is when the values of one raw column
// are dealt out anew among the rows. Several shuffles show how far that is chance; they are counters', so the same every time.

import { shuffle } from '../optim/random.ts';
import type { Importance } from '../protocol/explanation.ts';
import { correlations } from './correlations.ts';
import {
  answerAll,
  dropOf,
  drawnRows,
  rowsAtOnce,
  scoresOf,
  someRows,
  type Answer,
  type Pace,
  type Subject,
} from './subject.ts';

/** With more rows a drop is known to less than a hundredth of a score anyway. */
const mostRows = 4_096;
const seed = 30;
const firstStream = 4_000;
export const usualShuffles = 10;

export interface ImportanceOptions extends Pace {
  readonly shuffles?: number;
  /** Columns that say nearly the same are dealt out as one: shuffled alone, each is made up for by the others. */
  readonly together?: boolean;
}

/** Shuffle by shuffle, all columns each, so that one that is stopped has done the same number of all. */
export async function permutationImportance(
  whole: Subject,
  answer: Answer,
  { shuffles = usualShuffles, together = false, stopped, onProgress }: ImportanceOptions = {},
): Promise<Importance> {
  const known = Uint32Array.from([...whole.truth.keys()].filter((row) => !Number.isNaN(whole.truth[row])));
  const places = drawnRows(known.length, mostRows, seed).map((place) => known[place]);
  const subject = someRows(whole, places);
  const correlated = correlations(subject);
  const units = unitsOf(subject.columns.length, together ? correlated : []);
  const [U, N] = [units.length, places.length];
  const scores = scoresOf(subject, await answerAll(answer, subject.values, N));
  const names = Object.keys(scores);
  const drops = units.map(() => Object.fromEntries(names.map((name) => [name, [] as number[]])));
  const group = Math.max(1, Math.floor(rowsAtOnce(subject.columns.length) / Math.max(1, N)));
  let done = 0;
  for (; done < shuffles; done++) {
    const found: Readonly<Record<string, number>>[] = [];
    for (let first = 0; first < U && !stopped?.(); first += group) {
      found.push(...(await shuffledScores(subject, answer, units.slice(first, first + group), done)));
      onProgress?.((done + found.length / U) / shuffles);
    }
    if (found.length < U) break;
    found.forEach((values, unit) => {
      for (const name of names) drops[unit][name].push(dropOf(name, scores[name], values[name]));
    });
  }
  return {
    rows: N,
    of: known.length,
    shuffles: done,
    scores,
    columns: units.map(([column, ...others], unit) => ({
      column,
      ...(others.length > 0 && { together: others }),
      drops: drops[unit],
    })),
    correlated,
  };
}

/** Columns that pairs join, directly or through others, each set in order; a column of no pair stands alone. */
function unitsOf(columns: number, pairs: Importance['correlated']): readonly (readonly number[])[] {
  const first = Uint32Array.from({ length: columns }, (_, column) => column);
  for (const { columns: pair } of pairs) {
    const [low, high] = pair.map((column) => first[column]).sort((a, b) => a - b);
    first.forEach((own, column) => (first[column] = own === high ? low : own));
  }
  return [...new Set(first)].map((own) => [...first.keys()].filter((column) => first[column] === own));
}

/** The scores with each of some columns, or sets of them, shuffled, all asked at once. */
async function shuffledScores(
  subject: Subject,
  answer: Answer,
  units: readonly (readonly number[])[],
  number: number,
): Promise<readonly Readonly<Record<string, number>>[]> {
  const N = subject.truth.length;
  const asked = subject.values.map((values, column) => {
    const repeated = new Float64Array(units.length * N);
    units.forEach((shuffled, block) => {
      repeated.set(shuffled.includes(column) ? dealt(values, shuffled[0], number) : values, block * N);
    });
    return repeated;
  });
  const answers = await answerAll(answer, asked, units.length * N);
  const width = answers.length / (units.length * N);
  return units.map((_, block) => scoresOf(subject, answers.subarray(block * N * width, (block + 1) * N * width)));
}

function dealt(values: Float64Array, column: number, number: number): Float64Array {
  const order = Uint32Array.from(values.keys());
  shuffle(order, seed, firstStream + column, number);
  return Float64Array.from(order, (row) => values[row]);
}

export interface Spread {
  readonly mean: number;
  /** Standard deviation of single shuffles. */
  readonly deviation: number;
  /** No more than chance: the mean is not two standard errors above 0. */
  readonly noise: boolean;
}

export function spreadOf(drops: readonly number[]): Spread {
  const n = drops.length;
  const mean = drops.reduce((sum, drop) => sum + drop, 0) / Math.max(1, n);
  const squares = drops.reduce((sum, drop) => sum + (drop - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, n - 1));
  return { mean, deviation, noise: mean <= (2 * deviation) / Math.sqrt(Math.max(1, n)) };
}

/** Columns by falling importance. */
export function byImportance(
  { columns }: Importance,
  name: string,
): readonly { column: number; together: readonly number[]; spread: Spread }[] {
  return columns
    .map(({ column, together = [], drops }) => ({ column, together, spread: spreadOf(drops[name] ?? []) }))
    .sort((a, b) => b.spread.mean - a.spread.mean || a.column - b.column);
}
