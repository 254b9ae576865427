// Timing a workload: warm up, then repeat for a while; the best is what the machine can do, the median what it does.

import type { OpenWorkload } from './workloads.ts';

export interface Timing {
  /** Milliseconds of one unit of work. */
  readonly best: number;
  readonly median: number;
  readonly repeats: number;
}

export interface MeasureOptions {
  readonly milliseconds?: number;
  readonly least?: number;
  readonly round?: number;
}

/**
 * Repeats for about `milliseconds`, at least `least` times. A repetition holds as many units as last `round` milliseconds:
 * where waiting for the device costs time of its own, a round should be long against it.
 */
export async function measure(
  workload: OpenWorkload,
  clock: () => number,
  { milliseconds = 1500, least = 5, round = 0 }: MeasureOptions = {},
): Promise<Timing> {
  let units = 1;
  for (let i = 0; i < 3; i++) {
    const start = clock();
    await workload.run(units);
    units = Math.max(1, Math.min(10_000, Math.round((units * round) / (clock() - start))));
  }
  const times: number[] = [];
  const end = clock() + milliseconds;
  while (times.length < least || (clock() < end && times.length < 10_000)) {
    const start = clock();
    await workload.run(units);
    times.push((clock() - start) / units);
  }
  times.sort((a, b) => a - b);
  return { best: times[0], median: times[times.length >> 1], repeats: times.length };
}
