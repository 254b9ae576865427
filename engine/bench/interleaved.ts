// Times several workloads in turns, round after round, so that whatever else a machine does disturbs all alike: what is compared
// is compared within a round.

import type { OpenWorkload } from './workload.ts';

export interface Interleaving {
  readonly clock: () => number;
  /** Times each is measured. */
  readonly rounds: number;
  /** Milliseconds of one measurement at least. */
  readonly roundMilliseconds: number;
}

/** Units of one measurement at most. */
const mostUnits = 10_000;
const warmups = 3;

/** Runs so many units and says how many milliseconds they took. */
export type Timer = (units: number) => Promise<number>;

export interface Turns extends Pick<Interleaving, 'rounds' | 'roundMilliseconds'> {
  /** Milliseconds after which no further round begins, once there are `leastRounds`; absent: all rounds. */
  readonly atMost?: number;
  /** Before each measurement; what it throws ends them all. */
  readonly check?: () => void;
}

const leastRounds = 5;

/** Milliseconds of a unit: of each workload those of every round, in the order of the rounds. */
export async function interleaved(
  opened: readonly Pick<OpenWorkload, 'run'>[],
  { clock, rounds, roundMilliseconds }: Interleaving,
): Promise<readonly (readonly number[])[]> {
  return inTurns(
    opened.map((workload) => timerOf(workload, clock)),
    { rounds, roundMilliseconds },
  );
}

export function timerOf(workload: Pick<OpenWorkload, 'run'>, clock: () => number): Timer {
  return async (units) => {
    const start = clock();
    await workload.run(units);
    return clock() - start;
  };
}

/** The same for timers, wherever what they time runs. */
export async function inTurns(
  timers: readonly Timer[],
  { rounds, roundMilliseconds, atMost = Infinity, check }: Turns,
): Promise<readonly (readonly number[])[]> {
  let spent = 0;
  const time = async (timer: Timer, units: number): Promise<number> => {
    check?.();
    const milliseconds = await timer(units);
    spent += milliseconds;
    return milliseconds / units;
  };
  const units: number[] = [];
  for (const timer of timers) {
    let count = 1;
    for (let i = 0; i < warmups; i++) {
      const milliseconds = Math.max(1e-4, await time(timer, count));
      count = Math.max(1, Math.min(mostUnits, Math.round(roundMilliseconds / milliseconds)));
    }
    units.push(count);
  }
  const times: number[][] = timers.map(() => []);
  for (let round = 0; round < rounds && (round < leastRounds || spent < atMost); round++) {
    for (const [i, timer] of timers.entries()) times[i].push(await time(timer, units[i]));
  }
  return times;
}
