// Where the next trial is looked for. A point follows from the seed, the number of the trial and the scores of those before it alone, so that
// a search that was killed goes on as it would have.

import { sequentialWords } from '../optim/random.ts';
import { ParzenEstimator } from './parzen.ts';
import { mostSobolDimensions, scrambledSobolPoint } from './sobol.ts';
import { chosenAt, pointOf, type Chosen, type Point, type Space } from './space.ts';

export const samplers = ['random', 'sobol', 'tpe'] as const;
export type SamplerName = (typeof samplers)[number];

/** A trial that has ended, as samplers see it. */
export interface Seen {
  readonly chosen: Chosen;
  /** Less is better; null: it came to nothing. */
  readonly score: number | null;
  /** Share of the whole training that it had. */
  readonly reached: number;
}

const randomStream = 4302;
const tpeStream = 4303;
/** Trials before the densities are asked, drawn as Sobol's sequence has them. */
const firstTrials = 10;
/** Points of which the most promising is taken. */
const candidates = 24;
/** Of the worse trials so many stand for all, drawn by the seed: the densities cost a step the same however long a search is. */
const mostWorse = 200;

/** The settings of trial `number`, from 0. `before`: all trials before it, by their numbers. */
export function nextChosen(
  sampler: SamplerName,
  space: Space,
  seed: number,
  number: number,
  before: readonly Seen[],
): Chosen {
  return chosenAt(space, nextPoint(sampler, space, seed, number, before));
}

function nextPoint(sampler: SamplerName, space: Space, seed: number, number: number, before: readonly Seen[]): Point {
  switch (sampler) {
    case 'random':
      return randomPoint(space, seed, number);
    case 'sobol':
      return sobolOrRandom(space, seed, number);
    case 'tpe':
      return number < firstTrials ? sobolOrRandom(space, seed, number) : tpePoint(space, seed, number, before);
  }
  sampler satisfies never;
}

const uniform =
  (words: () => number): (() => number) =>
  () =>
    words() / 2 ** 32;

function randomPoint(space: Space, seed: number, number: number): Point {
  const next = uniform(sequentialWords(seed, randomStream, number));
  return Float64Array.from(Object.keys(space), next);
}

/** Beyond the dimensions that the sequence is known for, random. */
function sobolOrRandom(space: Space, seed: number, number: number): Point {
  const dimensions = Object.keys(space).length;
  const known = Math.min(dimensions, mostSobolDimensions);
  const point = randomPoint(space, seed, number);
  point.set(scrambledSobolPoint(number, known, seed));
  return point;
}

/** How many of so many trials are the better ones. */
export const betterOf = (trials: number): number => Math.min(25, Math.ceil(0.1 * trials));

/** The better trials, and the worse ones; those that went farther stand before those that were stopped earlier. */
export function partedTrials(before: readonly Seen[]): readonly [better: readonly Seen[], worse: readonly Seen[]] {
  const value = ({ score }: Seen): number => score ?? Infinity;
  const order = [...before.keys()].sort(
    (a, b) => before[b].reached - before[a].reached || compare(value(before[a]), value(before[b])) || a - b,
  );
  const ranked = order.filter((at) => before[at].score !== null);
  const better = new Set(ranked.slice(0, betterOf(before.length)));
  return [before.filter((_, at) => better.has(at)), before.filter((_, at) => !better.has(at))];
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

function tpePoint(space: Space, seed: number, number: number, before: readonly Seen[]): Point {
  const next = uniform(sequentialWords(seed, tpeStream, number));
  const [better, worse] = partedTrials(before);
  const dimensions = Object.values(space);
  const points = (trials: readonly Seen[]): Point[] => trials.map(({ chosen }) => pointOf(space, chosen));
  const good = new ParzenEstimator(dimensions, points(better));
  const bad = new ParzenEstimator(dimensions, points(some(worse, next)));
  let best: Point = good.sample(next);
  let most = -Infinity;
  for (let candidate = 0; candidate < candidates; candidate++) {
    const point = candidate === 0 ? best : good.sample(next);
    const counted = pointOf(space, chosenAt(space, point));
    const promise = good.logDensity(counted) - bad.logDensity(counted);
    if (promise > most) [best, most] = [point, promise];
  }
  return best;
}

function some(trials: readonly Seen[], next: () => number): readonly Seen[] {
  if (trials.length <= mostWorse) return trials;
  // Each trial has the same chance (Knuth's selection sampling), and their order stays.
  let wanted = mostWorse;
  return trials.filter((_, at) => {
    if (next() * (trials.length - at) >= wanted) return false;
    wanted--;
    return true;
  });
}
