// The rows that an exported model is checked with: of the test split, spread evenly over it; where a run kept none to test with, of
// the validation or the training split.

import type { PreparedData, Shard, SplitName } from '../protocol/data.ts';
import type { Rows } from '../learners/learner.ts';

/** Rows of a certificate, where the split has so many. */
export const checkedRows = 256;
/** Numbers of the run's answers beside a model, where that leaves a few rows. */
const checkedAnswers = 2_000_000;
const leastRows = 16;

export interface Sample {
  readonly split: SplitName;
  /** Positions among the prepared rows, rising. */
  readonly places: readonly number[];
}

/** `answers`: numbers that each row is answered by. */
export function chooseSample({ counts }: Pick<PreparedData, 'counts'>, answers = 1): Sample {
  const starts = { train: 0, validation: counts.train, test: counts.train + counts.validation };
  const split = (['test', 'validation', 'train'] as const).find((name) => counts[name] > 0) ?? 'train';
  const affordable = Math.max(leastRows, Math.floor(checkedAnswers / answers));
  const rows = Math.min(checkedRows, affordable, counts[split]);
  const places = Array.from({ length: rows }, (_, i) => starts[split] + Math.floor((i * counts[split]) / rows));
  return { split, places };
}

/** These rows alone, as prepared data of one shard in which all count as test. */
export async function takeRows(
  { data, readShard }: Pick<Rows, 'data' | 'readShard'>,
  places: readonly number[],
): Promise<{ readonly data: PreparedData; readonly shard: Shard }> {
  const { width, targets, shardStarts } = data;
  const y = new Float32Array(places.length * targets);
  const picked: { x: Shard['x']; y: Float32Array } = { x: new Float32Array(0), y };
  let next = 0;
  for (let index = 0; index + 1 < shardStarts.length && next < places.length; index++) {
    if (places[next] >= shardStarts[index + 1]) continue;
    const { x, y } = await readShard(index);
    if (picked.x.length === 0) picked.x = sameKind(x, places.length * width);
    for (; next < places.length && places[next] < shardStarts[index + 1]; next++) {
      const row = places[next] - shardStarts[index];
      picked.x.set(x.subarray(row * width, (row + 1) * width), next * width);
      picked.y.set(y.subarray(row * targets, (row + 1) * targets), next * targets);
    }
  }
  const counts = { train: 0, validation: 0, test: places.length };
  return {
    data: { ...data, counts, shardStarts: [0, places.length] },
    shard: { rows: places.length, x: picked.x, y: picked.y },
  };
}

function sameKind(x: Shard['x'], length: number): Shard['x'] {
  if (x instanceof Uint8Array) return new Uint8Array(length);
  return x instanceof Float64Array ? new Float64Array(length) : new Float32Array(length);
}
