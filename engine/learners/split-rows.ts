// One split of prepared rows.

import type { PreparedData, SplitName } from '../protocol/data.ts';
import { splitRange } from '../train/scores.ts';
import type { Rows } from './learner.ts';

/** One split alone, as if there were no other: shards are cut at its ends. */
export function rowsOfSplit({ data, readShard, ...rest }: Rows, split: SplitName): Rows {
  const { start, end } = splitRange(data, split);
  const { shardStarts, width, targets } = data;
  const parts = shardStarts.slice(1).flatMap((shardEnd, shard) => {
    const from = Math.max(start, shardStarts[shard]);
    const to = Math.min(end, shardEnd);
    return from < to ? [{ shard, from, to }] : [];
  });
  const view: PreparedData = {
    ...data,
    counts: { train: 0, validation: 0, test: end - start },
    shardStarts: [...parts.map(({ from }) => from - start), end - start],
  };
  return {
    ...rest,
    data: view,
    readShard: async (index) => {
      const { shard, from, to } = parts[index];
      const { x, y } = await readShard(shard);
      const [first, last] = [from - shardStarts[shard], to - shardStarts[shard]];
      return {
        rows: to - from,
        x: x.subarray(first * width, last * width),
        y: y.subarray(first * targets, last * targets),
      };
    },
  };
}
