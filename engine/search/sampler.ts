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
  /** Losses at the rungs that it came to. */
  readonly rungs?: readonly (readonly [rung: number, loss: number])[];
}

const randomStream = 4302;
const tpeStream = 4303;
/** Trials before the densities are asked, drawn as Sobol's sequence has them. */
const firstTrials = 10;
/** Points of which the most promising is taken. */
const candidates = 24;
/** Of the worse trials so many stand for all, drawn by the seed: the densities cost a step the same however long a search is. */
const mostWorse = 200;

/** The settings of trial `number`, from 0. `before`: trials before it, by their numbers: all, or all but the last ones. */
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
      return before.length < firstTrials ? sobolOrRandom(space, seed, number) : tpePoint(space, seed, number, before);
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

/**
 * The better trials, and the worse ones. Where trials were stopped early they are judged at the farthest rung that enough of them came to, the
 * whole being the last one (Falkner et al., ICML 2018): those that did by their losses there, behind them those that were stopped before.
 */
export function partedTrials(
  before: readonly Seen[],
  dimensions = 1,
): readonly [better: readonly Seen[], worse: readonly Seen[]] {
  const judged = judgedAt(before, dimensions + 2);
  const value = (trial: Seen): number => judged(trial) ?? Infinity;
  const order = [...before.keys()].sort(
    (a, b) =>
      compare(value(before[a]), value(before[b])) ||
      before[b].reached - before[a].reached ||
      compare(before[a].score ?? Infinity, before[b].score ?? Infinity) ||
      a - b,
  );
  const ranked = order.filter((at) => before[at].score !== null);
  const better = new Set(ranked.slice(0, betterOf(before.length)));
  return [before.filter((_, at) => better.has(at)), before.filter((_, at) => !better.has(at))];
}

/** What a trial is judged by; null: it was stopped before. `enough`: trials that have to have come there. */
function judgedAt(before: readonly Seen[], enough: number): (trial: Seen) => number | null {
  const whole = ({ reached, score }: Seen): number | null => (reached >= 1 ? score : null);
  const rungs = [...new Set(before.flatMap(({ rungs = [] }) => rungs.map(([rung]) => rung)))].sort((a, b) => b - a);
  const levels = [
    whole,
    ...rungs.map((wanted) => (trial: Seen) => trial.rungs?.find(([rung]) => rung === wanted)?.[1] ?? null),
  ];
  const counted = (level: (trial: Seen) => number | null): number =>
    before.reduce((count, trial) => count + (level(trial) === null ? 0 : 1), 0);
  return levels.find((level) => counted(level) >= enough) ?? levels[levels.length - 1];
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

function tpePoint(space: Space, seed: number, number: number, before: readonly Seen[]): Point {
  const next = uniform(sequentialWords(seed, tpeStream, number));
  const dimensions = Object.values(space);
  const [better, worse] = partedTrials(before, dimensions.length);
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
