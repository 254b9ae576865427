// How fast a model answers: one row at a time, and as many as possible.

import type { Resident } from '../learners/learner.ts';
import type { PredictionSpeed } from '../protocol/serving.ts';

/** Rows one by one of which the median is taken, after some that only warm up. */
const singles = 200;
const warming = 20;
/** Rows of a large batch, and how long batches are measured. */
const manyRows = 4096;
const manyMilliseconds = 300;

export async function measureSpeed(
  outputs: Resident['outputs'],
  rowsOf: (rows: number) => Parameters<Resident['outputs']>[0],
  clock: () => number = () => performance.now(),
): Promise<PredictionSpeed> {
  const one = rowsOf(1);
  const times: number[] = [];
  for (let at = 0; at < warming + singles; at++) {
    const start = clock();
    await outputs(one, 1);
    if (at >= warming) times.push(clock() - start);
  }
  const many = rowsOf(manyRows);
  await outputs(many, manyRows);
  let best = Infinity;
  const begun = clock();
  do {
    const start = clock();
    await outputs(many, manyRows);
    best = Math.min(best, clock() - start);
  } while (clock() - begun < manyMilliseconds);
  return { rowMilliseconds: median(times), rowsPerSecond: (manyRows / best) * 1000 };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
