// The batch (or the width) at which one device overtakes another with this model: forecast from what both were measured at; and read
// from times that were taken in turns. A lead grows with the batch, so all batches together say where it begins; how far they scatter is said.

import type { ModelCosts } from './costs/costs.ts';
import { stepTime, type TimedDevice } from './time-forecast.ts';

/** Seconds of a step on the device that is quick to start, and on the one that computes faster. */
export interface Race {
  /** Rows of a step; where widths race, units of the widest layer. */
  readonly batch: number;
  readonly near: number;
  readonly far: number;
}

/** A race that was timed: medians, and what each turn said. */
export interface TimedRace extends Race {
  /** Median over the turns of log(near ÷ far): above 0, `far` wins. */
  readonly lead: number;
  /** How far that median may be off: its standard error, from the spread of the turns. */
  readonly error: number;
}

/** Where the lead changes hands. */
export interface Crossover {
  /** 1: `far` wins from the start; null: it does not win at the largest. */
  readonly batch: number | null;
  /** Batches between which neither is surely ahead, or by no more than a few per cent; `high` null: nor is it at the largest. */
  readonly low: number;
  readonly high: number | null;
  /** The most that one leads by between them, as a share: 0.06 = they are within 6 %. */
  readonly within: number;
}

/** Batches a crossover is looked for at: 1, 2, 4, … */
export const raceBatches = (most: number): readonly number[] =>
  Array.from({ length: 1 + Math.floor(Math.log2(most)) }, (_, i) => 2 ** i);

/** The race as it is forecast. */
export function forecastRace(
  costs: (batch: number) => ModelCosts,
  near: TimedDevice,
  far: TimedDevice,
  batches: readonly number[],
): readonly Race[] {
  return batches.map((batch) => {
    const step = costs(batch);
    return { batch, near: stepTime(step, near).seconds, far: stepTime(step, far).seconds };
  });
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** Standard error of a median over the median distance from it, for normal scatter: 1.4826 · 1.2533 ÷ √n. */
const errorOfMedian = 1.858;

/** A race from seconds of both in the order of the turns: what is compared is compared within a turn. */
export function timedRace(batch: number, near: readonly number[], far: readonly number[]): TimedRace {
  const leads = near.map((seconds, turn) => Math.log(seconds / far[turn]));
  const lead = median(leads);
  const scatter = median(leads.map((each) => Math.abs(each - lead)));
  const error = (errorOfMedian * scatter) / Math.sqrt(leads.length);
  return { batch, near: median(near), far: median(far), lead, error };
}

/** The rising sequence nearest to `values` (least squares): neighbours in the wrong order share their mean. */
export function rising(values: readonly number[], weights: readonly number[]): readonly number[] {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  const mean = (block: (typeof blocks)[number]): number => block.sum / block.weight;
  for (const [i, value] of values.entries()) {
    blocks.push({ sum: value * weights[i], weight: weights[i], count: 1 });
    while (blocks.length > 1 && mean(blocks[blocks.length - 2]) >= mean(blocks[blocks.length - 1])) {
      const last = blocks.pop()!;
      const before = blocks[blocks.length - 1];
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
    }
  }
  return blocks.flatMap((block) => Array.from({ length: block.count }, () => mean(block)));
}

/** Leads nearer to each other than this are the same on any machine. */
const leastError = 0.01;
/** Standard errors that make a lead sure. */
const sure = 2;

/** Two devices this near to each other are as good: which one leads, another day may turn round. */
export const closeLead = 0.05;

const withLead = (race: Race | TimedRace): TimedRace =>
  'lead' in race ? race : { ...race, lead: Math.log(race.near / race.far), error: 0 };

/**
 * The batch from which `far` wins and goes on winning, by a rising fit through the leads of all races (pool adjacent violators, each
 * with the weight of its certainty), between batches by the logarithm.
 */
export function crossoverOf(races: readonly (Race | TimedRace)[]): Crossover {
  const timed = races.map(withLead);
  if (timed.length === 0) return { batch: null, low: 1, high: null, within: 0 };
  const batches = timed.map(({ batch }) => batch);
  const weights = timed.map(({ error }) => 1 / Math.max(leastError, error) ** 2);
  const fitted = rising(
    timed.map(({ lead }) => lead),
    weights,
  );
  const margin = timed.map(({ error }) => Math.max(closeLead, sure * error));
  const batch = zeroOf(batches, fitted);
  const most = upper(fitted.map((lead, i) => lead + margin[i]));
  const least = lower(fitted.map((lead, i) => lead - margin[i]));
  const low = zeroOf(batches, most) ?? batches[batches.length - 1];
  const high = zeroOf(batches, least);
  const between = timed.filter((race) => race.batch >= low && race.batch <= (high ?? Infinity));
  const largest = Math.max(0, ...between.map(({ lead }) => Math.abs(lead)));
  return { batch, low, high, within: Math.exp(largest) - 1 };
}

/**
 * How far a forecast of the crossover lies from where it was measured to be: the factor to the nearer end of the range in which neither
 * device is ahead, 1 within it. null where one of them was not found.
 */
export function crossoverFactor(said: Crossover, found: Crossover): number | null {
  if (said.batch === null) return found.high === null ? 1 : null;
  if (found.batch === null && found.high === null && said.batch < found.low) return null;
  return Math.max(1, found.low / said.batch, said.batch / (found.high ?? Infinity));
}

/** Upper bounds of leads that rise: none is above that of a larger batch. */
const upper = (values: readonly number[]): readonly number[] => values.map((_, i) => Math.min(...values.slice(i)));

/** Lower bounds of leads that rise: none is below that of a smaller batch. */
const lower = (values: readonly number[]): readonly number[] =>
  values.map((_, i) => Math.max(...values.slice(0, i + 1)));

/** Where a rising lead passes 0: the first batch where it begins above it, null where it ends below. */
function zeroOf(batches: readonly number[], leads: readonly number[]): number | null {
  const after = leads.findIndex((lead) => lead >= 0);
  if (after <= 0) return after === 0 ? batches[0] : null;
  const [from, to] = [leads[after - 1], leads[after]];
  return batches[after - 1] * (batches[after] / batches[after - 1]) ** (-from / (to - from));
}

/** `from a batch of 94 on` (or of another size, by its name); where `far` does not win, how far it was looked for. `races` are those the crossover was read from. */
export function crossoverWords({ batch }: Crossover, races: readonly Race[], size = 'batch'): string {
  if (batch !== null) return batch <= 1 ? 'from the first row on' : `from a ${size} of ${Math.round(batch)} on`;
  const largest = races.at(-1)?.batch;
  return largest === undefined
    ? `at no ${size}: even the smallest step takes too long`
    : `not up to a ${size} of ${largest}`;
}

/** A crossover nobody can time: neither device is ahead by more than this wherever it may lie. */
const closeShare = 0.1;

export const isTooClose = ({ low, high, within }: Crossover): boolean =>
  (high === null || Math.round(low) !== Math.round(high)) && within > 0 && within <= closeShare;
