// From times to spreads: when a measurement is too noisy to be kept as it is, and how a time becomes a rate.

import type { Timing } from '../bench/measure.ts';
import type { Spread } from '../protocol/lab.ts';

/** A figure whose middle 90 % is wider than this share of its median is measured again. */
export const noisyShare = 0.1;
/** Times a figure is measured at most. */
export const mostTries = 3;
/** Calls a median rests on at least. */
export const leastCalls = 15;

/** Width of the middle 90 % as a share of the median. */
export function spreadShare({ median, low, high }: Spread): number {
  return (high - low) / median;
}

export const isNoisy = (spread: Spread): boolean => spreadShare(spread) > noisyShare;

/** No clock is this fine: what seemed to take no time took this. */
const leastTime = 1e-6;

/** Milliseconds a unit, as measured in the first to the `tries`-th try. */
export function timeSpread({ median, low, high, repeats }: Timing, tries: number): Spread {
  const [l, m, h] = [low, median, high].map((time) => Math.max(time, leastTime));
  return { median: m, low: l, high: h, calls: repeats, ...(tries > 1 ? { tries } : {}) };
}

/** `amount` a millisecond, of times in milliseconds: the longest time is the lowest rate. */
export function rateSpread(times: Spread, amount: number): Spread {
  const { median, low, high } = times;
  return { ...times, median: amount / median, low: amount / high, high: amount / low };
}

/** The same spread in another unit. */
export function scaledSpread(spread: Spread, factor: number): Spread {
  return { ...spread, median: factor * spread.median, low: factor * spread.low, high: factor * spread.high };
}

/** What `more` takes longer than `less`, a unit; at least nearly nothing, where they cannot be told apart. */
export function differenceSpread(more: Spread, less: Spread): Spread {
  const over = (time: number): number => Math.max(time - less.median, leastTime);
  return { ...more, median: over(more.median), low: over(more.low), high: over(more.high) };
}
