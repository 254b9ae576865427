// The batch at which one device overtakes another with this model: forecast from what both were measured at; and read from times.

import type { ModelCosts } from './costs/costs.ts';
import { stepTime, type TimedDevice } from './time-forecast.ts';

/** Seconds of a step on the device that is quick to start, and on the one that computes faster. */
export interface Race {
  readonly batch: number;
  readonly near: number;
  readonly far: number;
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

/**
 * The batch from which `far` wins and goes on winning, between those raced at by the logarithms of times and batches: 1 where it wins
 * from the start, null where it does not win at the largest.
 */
export function crossoverOf(races: readonly Race[]): number | null {
  const lead = ({ near, far }: Race): number => Math.log(near / far);
  const last = races.findLastIndex((race) => lead(race) < 0);
  if (last < 0) return races[0]?.batch ?? null;
  if (last === races.length - 1) return null;
  const [before, after] = [races[last], races[last + 1]];
  const share = -lead(before) / (lead(after) - lead(before));
  return before.batch * (after.batch / before.batch) ** share;
}
