// Timing a workload: warm up, then repeat for a while; the best is what the machine can do, the median what it does.

import type { OpenWorkload } from './workloads.ts';

export interface Timing {
  /** Milliseconds of one unit of work. */
  readonly best: number;
  readonly median: number;
  readonly repeats: number;
}

/** Repeats for about `milliseconds`, at least `least` times. */
export async function measure(
  workload: OpenWorkload,
  clock: () => number,
  { milliseconds = 1500, least = 5 }: { readonly milliseconds?: number; readonly least?: number } = {},
): Promise<Timing> {
  for (let i = 0; i < 3; i++) await workload.run();
  const times: number[] = [];
  const end = clock() + milliseconds;
  while (times.length < least || (clock() < end && times.length < 10_000)) {
    const start = clock();
    await workload.run();
    times.push(clock() - start);
  }
  times.sort((a, b) => a - b);
  return { best: times[0], median: times[times.length >> 1], repeats: times.length };
}
