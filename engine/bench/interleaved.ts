// Times several workloads in turns, round after round, so that whatever else a machine does disturbs all alike: what is compared
// is compared within a round.

import type { OpenWorkload } from './workloads.ts';

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

/** Milliseconds of a unit: of each workload those of every round, in the order of the rounds. */
export async function interleaved(
  opened: readonly Pick<OpenWorkload, 'run'>[],
  { clock, rounds, roundMilliseconds }: Interleaving,
): Promise<readonly (readonly number[])[]> {
  const time = async (workload: Pick<OpenWorkload, 'run'>, units: number): Promise<number> => {
    const start = clock();
    await workload.run(units);
    return (clock() - start) / units;
  };
  const units: number[] = [];
  for (const workload of opened) {
    let count = 1;
    for (let i = 0; i < warmups; i++) {
      const milliseconds = Math.max(1e-4, await time(workload, count));
      count = Math.max(1, Math.min(mostUnits, Math.round(roundMilliseconds / milliseconds)));
    }
    units.push(count);
  }
  const times: number[][] = opened.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, workload] of opened.entries()) times[i].push(await time(workload, units[i]));
  }
  return times;
}
