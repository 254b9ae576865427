// Timing a workload: warm up, then repeat for a while; the best is what the machine can do, the median what it does, and the
// middle 90 % how steadily it does it.

import type { OpenWorkload } from './workload.ts';

export interface Timing {
  /** Milliseconds of one unit of work. */
  readonly best: number;
  readonly median: number;
  /** The middle 90 %. */
  readonly low: number;
  readonly high: number;
  readonly repeats: number;
}

export interface MeasureOptions {
  readonly milliseconds?: number;
  readonly least?: number;
  readonly round?: number;
  /** Awaited between repetitions, and not timed: lets messages in, or throws. */
  readonly between?: () => Promise<void>;
}

/** Warm-up rounds; more where the last one was still shorter than half a round, or units were still getting faster by this share. */
const warmups = 3;
const mostWarmups = 8;
const settled = 0.1;
/** One unit that lasts so many rounds is warm when it has run once. */
export const longUnit = 4;
/** A warm-up may hold so many times the units of the one before: a coarse clock may have seen nothing pass. */
const largestGrowth = 64;

/**
 * Repeats for about `milliseconds`, at least `least` times. A repetition holds as many units as last `round` milliseconds:
 * where waiting for the device costs time of its own, a round should be long against it.
 */
export async function measure(
  workload: Pick<OpenWorkload, 'run'>,
  clock: () => number,
  { milliseconds = 1500, least = 5, round = 0, between }: MeasureOptions = {},
): Promise<Timing> {
  let units = 1;
  /** From the `first` round on. One long unit is warm when it has run once: whether it is long, the first that is timed confirms. */
  const warmUp = async (first: number): Promise<'warm' | 'long'> => {
    let [lasted, each] = [Infinity, Infinity];
    // Better code of a kernel (V8's second compiler of WebAssembly) comes while its first is running.
    let settling = true;
    for (let i = first; i < warmups || ((lasted < round / 2 || settling) && i < mostWarmups); i++) {
      const start = clock();
      await workload.run(units);
      lasted = clock() - start;
      settling = round > 0 && lasted / units < (1 - settled) * each;
      each = lasted / units;
      const wanted = lasted > 0 ? Math.round((units * round) / lasted) : units * largestGrowth;
      units = Math.max(1, Math.min(10_000, units * largestGrowth, round > 0 ? wanted : 1));
      await between?.();
      if (i === 0 && round > 0 && lasted >= longUnit * round) return 'long';
    }
    return 'warm';
  };
  let isLong = (await warmUp(0)) === 'long';
  const times: number[] = [];
  let end = clock() + milliseconds;
  while (times.length < least || (clock() < end && times.length < 10_000)) {
    const start = clock();
    await workload.run(units);
    const lasted = clock() - start;
    await between?.();
    if (isLong && lasted < round / 2) {
      // What took long was something else: threads that started, another program.
      await warmUp(1);
      end = clock() + milliseconds;
    } else {
      times.push(lasted / units);
    }
    isLong = false;
  }
  times.sort((a, b) => a - b);
  const [low, median, high] = [0.05, 0.5, 0.95].map((share) => quantile(times, share));
  return { best: times[0], median, low, high, repeats: times.length };
}

/** Of sorted values, between neighbours by their distance. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const before = Math.floor(place);
  const after = Math.min(before + 1, sorted.length - 1);
  return sorted[before] + (place - before) * (sorted[after] - sorted[before]);
}
