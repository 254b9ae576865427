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

/** Shuffle by shuffle, all columns each, so that one that is stopped has done the same number of all. */
export async function permutationImportance(
  whole: Subject,
  answer: Answer,
  { shuffles = usualShuffles, stopped, onProgress }: Pace & { readonly shuffles?: number } = {},
): Promise<Importance> {
  const known = Uint32Array.from([...whole.truth.keys()].filter((row) => !Number.isNaN(whole.truth[row])));
  const places = drawnRows(known.length, mostRows, seed).map((place) => known[place]);
  const subject = someRows(whole, places);
  const [C, N] = [subject.columns.length, places.length];
  const scores = scoresOf(subject, await answerAll(answer, subject.values, N));
  const names = Object.keys(scores);
  const drops = subject.columns.map(() => Object.fromEntries(names.map((name) => [name, [] as number[]])));
  const group = Math.max(1, Math.floor(rowsAtOnce(C) / Math.max(1, N)));
  let done = 0;
  for (; done < shuffles; done++) {
    const found: Readonly<Record<string, number>>[] = [];
    for (let first = 0; first < C && !stopped?.(); first += group) {
      const columns = Array.from({ length: Math.min(group, C - first) }, (_, i) => first + i);
      found.push(...(await shuffledScores(subject, answer, columns, done)));
      onProgress?.((done + found.length / C) / shuffles);
    }
    if (found.length < C) break;
    found.forEach((values, column) => {
      for (const name of names) drops[column][name].push(dropOf(name, scores[name], values[name]));
    });
  }
  return {
    rows: N,
    of: known.length,
    shuffles: done,
    scores,
    columns: drops.map((of, column) => ({ column, drops: of })),
    correlated: correlations(subject),
  };
}

/** The scores with each of some columns shuffled, all asked at once. */
async function shuffledScores(
  subject: Subject,
  answer: Answer,
  columns: readonly number[],
  number: number,
): Promise<readonly Readonly<Record<string, number>>[]> {
  const N = subject.truth.length;
  const asked = subject.values.map((values, column) => {
    const repeated = new Float64Array(columns.length * N);
    columns.forEach((shuffled, block) => {
      repeated.set(column === shuffled ? dealt(values, column, number) : values, block * N);
    });
    return repeated;
  });
  const answers = await answerAll(answer, asked, columns.length * N);
  const width = answers.length / (columns.length * N);
  return columns.map((_, block) => scoresOf(subject, answers.subarray(block * N * width, (block + 1) * N * width)));
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
export function byImportance({ columns }: Importance, name: string): readonly { column: number; spread: Spread }[] {
  return columns
    .map(({ column, drops }) => ({ column, spread: spreadOf(drops[name] ?? []) }))
    .sort((a, b) => b.spread.mean - a.spread.mean || a.column - b.column);
}
