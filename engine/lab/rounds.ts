// A lab measures everything several times over, device after device and size after size: what a machine does for seconds or minutes
// (another program, a core that is shared, heat) then falls on all figures alike, and no figure rests on one moment. Here the rounds
// become one.

import type { LabDevice, LabMeasurement, LabReport, Sample, Spread } from '../protocol/lab.ts';
import { reportNotes } from './reports.ts';
import { leastCalls } from './spread.ts';

/** Rounds at most, and the seconds that a device needs in each at least: below, its larger sizes would not fit. */
const mostRounds = 3;
const leastSeconds = 3;

/** Rounds of a lab in which a device has so many seconds. */
export const roundsOf = (secondsEach: number): number =>
  Math.max(1, Math.min(mostRounds, Math.floor(secondsEach / leastSeconds)));

/** Calls that a figure needs in each of so many rounds. */
export const callsOfRound = (rounds: number): number => Math.ceil(leastCalls / rounds);

/** `up`: more is better, as of rates; `down`: as of times; `neither`: what disturbs may make it larger or smaller, as a difference. */
type Better = 'up' | 'down' | 'neither';

/**
 * One figure of several rounds: that of the best round, since whatever disturbs makes slower (of a difference the middle one), between
 * the least and the most of all of them. Throws RangeError for none.
 */
export function mergedSpread(spreads: readonly Spread[], better: Better): Spread {
  const sorted = spreads.toSorted((a, b) => (better === 'up' ? b.median - a.median : a.median - b.median));
  if (sorted.length === 0) throw new RangeError('no rounds');
  const tries = Math.max(...spreads.map((each) => each.tries ?? 1));
  return {
    median: sorted[better === 'neither' ? sorted.length >> 1 : 0].median,
    low: Math.min(...spreads.map(({ low }) => low)),
    high: Math.max(...spreads.map(({ high }) => high)),
    calls: spreads.reduce((sum, { calls }) => sum + calls, 0),
    ...(tries > 1 ? { tries } : {}),
  };
}

/** What has the same key in several rounds, in the order in which it first came. */
function together<T>(rounds: readonly (readonly T[])[], key: (one: T) => number | string): readonly (readonly T[])[] {
  const all = new Map<number | string, T[]>();
  for (const one of rounds.flat()) all.set(key(one), [...(all.get(key(one)) ?? []), one]);
  return [...all.values()];
}

const samplesOf = (rounds: readonly (readonly Sample[])[]): readonly Sample[] =>
  together(rounds, ({ at }) => at)
    .map((same) => ({
      at: same[0].at,
      value: mergedSpread(
        same.map(({ value }) => value),
        'up',
      ),
    }))
    .sort((a, b) => a.at - b.at);

/** A device as all rounds together say. */
export function mergedDevice(rounds: readonly LabDevice[]): LabDevice {
  const last = rounds[rounds.length - 1];
  const transfers = rounds.flatMap(({ transfer }) => transfer ?? []);
  // Speeds on several threads are compared with each other: those of one size.
  const scalings = rounds.flatMap(({ scaling }) => scaling ?? []);
  const product = Math.max(0, ...scalings.map((scaling) => scaling.product));
  const own = scalings.flatMap((scaling) => (scaling.own ? [scaling.own] : []));
  return {
    ...last,
    products: samplesOf(rounds.map(({ products }) => products)),
    copy: samplesOf(rounds.map(({ copy }) => copy)),
    triad: samplesOf(rounds.map(({ triad }) => triad)),
    latencies: together(
      rounds.map(({ latencies }) => latencies),
      ({ name }) => name,
    ).map((same) => ({
      name: same[0].name,
      microseconds: mergedSpread(
        same.map(({ microseconds }) => microseconds),
        // What a call takes longer on all threads than on one.
        same[0].name === 'barrier' ? 'neither' : 'down',
      ),
    })),
    ...(transfers.length > 0
      ? {
          transfer: {
            toGbPerSecond: mergedSpread(
              transfers.map(({ toGbPerSecond }) => toGbPerSecond),
              'up',
            ),
            fromGbPerSecond: mergedSpread(
              transfers.map(({ fromGbPerSecond }) => fromGbPerSecond),
              'up',
            ),
          },
        }
      : {}),
    ...(scalings.length > 0
      ? {
          scaling: {
            product,
            samples: samplesOf(scalings.filter((scaling) => scaling.product === product).map(({ samples }) => samples)),
            ...(own.length > 0 ? { own: samplesOf(own) } : {}),
          },
        }
      : {}),
    workloads: together(
      rounds.map(({ workloads }) => workloads),
      ({ name }) => name,
    ).map((same) => ({
      ...same[0],
      milliseconds: mergedSpread(
        same.map(({ milliseconds }) => milliseconds),
        'down',
      ),
    })),
  };
}

/** All threads that do less than so many times what one does are hardly worth having. */
const worthwhile = 1.15;

/** What all threads did of what one did, in each round that says so. */
const gainsOf = (rounds: readonly (readonly Sample[] | undefined)[]): readonly number[] =>
  rounds.flatMap((samples = []) => {
    const one = samples.find(({ at }) => at === 1)?.value.median;
    const all = samples.at(-1);
    return one && all && all.at > 1 ? [all.value.median / one] : [];
  });

const gainWords = (gain: number): string => `${gain < 1 ? '' : '+'}${Math.round(100 * (gain - 1))} %`;
function rangeWords(gains: readonly number[]): string {
  const [least, most] = [Math.min(...gains), Math.max(...gains)];
  return gains.length > 1 ? `from ${gainWords(least)} to ${gainWords(most)}` : gainWords(least);
}

/**
 * What several threads were worth from round to round, where it was next to nothing in one of them: at one product that they share, and
 * with a product of its own each, which says whether the processors are there.
 */
function threadsNote(rounds: readonly LabDevice[]): readonly string[] {
  const shared = gainsOf(rounds.map(({ scaling }) => scaling?.samples));
  const own = gainsOf(rounds.map(({ scaling }) => scaling?.own));
  const threads = rounds.at(-1)?.threads ?? 1;
  const poor = shared.filter((gain) => gain < worthwhile);
  if (poor.length === 0) return [];
  const when = poor.length === shared.length ? '' : ` in ${poor.length} of ${shared.length} rounds`;
  const there = own.length > 0 && own.every((gain) => gain >= worthwhile);
  const beside = own.length > 0 ? `, with a product of its own each ${rangeWords(own)}` : '';
  const why = there
    ? 'the processors are there, and sharing a product is what costs: threads wait for each other or for memory.'
    : 'hyper-threads that share a core, or cores that another program or another machine on the same computer has.';
  return [
    `Threads: all ${threads} together did hardly more than one${when} at one large product (${rangeWords(shared)})` +
      `${beside}: ${why}`,
  ];
}

/** The rounds of one device as one measurement, and sentences about it. Throws RangeError for none. */
export function mergedRounds(rounds: readonly LabMeasurement[]): {
  readonly device: LabDevice;
  readonly notes: readonly string[];
} {
  const devices = rounds.map(({ device }) => device);
  const reports: readonly LabReport[] = rounds.flatMap((round) => round.reports ?? []);
  const notes = [...new Set(rounds.flatMap((round) => round.notes))];
  return {
    device: mergedDevice(devices),
    notes: [...notes, ...reportNotes(reports, rounds.length, devices.at(-1)?.threads), ...threadsNote(devices)],
  };
}
