// States that are fitted to the training rows before the training begins: the median and the spread of each column, for robust
// scaling. Only rows of the training split are looked at, 100,000 of them at most, from shards all over it.

import type { PreparedData } from '../protocol/data.ts';
import type { StateDef } from '../model/layer.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import type { ReadShard } from './resident-rows.ts';

const mostRows = 100_000;

/** Shift and scale of a column: x · scale + shift has the median 0 and quartiles 1 apart. */
interface RobustColumn {
  readonly shift: number;
  readonly scale: number;
}

/** The model with first values of its fitted states by these rows; itself, where it has none. */
export async function fittedModel(
  model: ResolvedModel,
  data: PreparedData,
  readShard: ReadShard,
): Promise<ResolvedModel> {
  const { input } = model;
  const wanted = model.states.some(({ fitted }) => fitted !== undefined);
  if (!wanted || input.kind !== 'table' || data.counts.train === 0) return model;
  const columns = await robustColumns(data, input.numbers ?? range(input.numeric), readShard);
  const fitted = (state: StateDef): StateDef => {
    if (state.fitted === undefined) return state;
    const values = new Float32Array(state.shape[0]).fill(state.initial);
    for (const [column, { shift, scale }] of columns) values[column] = state.fitted === 'robust_shift' ? shift : scale;
    return { ...state, values };
  };
  const layers = model.layers.map((layer) => ({ ...layer, states: layer.states.map(fitted) }));
  return { ...model, layers, states: model.states.map(fitted) };
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

async function robustColumns(
  { counts, shardStarts, width }: PreparedData,
  numbers: readonly number[],
  readShard: ReadShard,
): Promise<ReadonlyMap<number, RobustColumn>> {
  const every = Math.max(1, Math.ceil(counts.train / mostRows));
  const rows = Math.ceil(counts.train / every);
  const values = numbers.map(() => new Float32Array(rows));
  let kept = 0;
  for (let shard = 0; shard + 1 < shardStarts.length && shardStarts[shard] < counts.train; shard++) {
    const { x } = await readShard(shard);
    const end = Math.min(shardStarts[shard + 1], counts.train);
    for (let row = Math.ceil(shardStarts[shard] / every) * every; row < end; row += every, kept++) {
      const start = (row - shardStarts[shard]) * width;
      numbers.forEach((column, i) => (values[i][kept] = x[start + column]));
    }
  }
  return new Map(numbers.map((column, i) => [column, robustColumn(values[i].subarray(0, kept).sort())]));
}

/**
 * By the range of the middle half. Where a quarter of the values or more are the median itself, as of counts that are mostly 0, the middle
 * half says little or nothing about the others: then by twice their median distance from it, which is the same range where values lie
 * evenly on both sides. A column of one value stays as it is.
 */
function robustColumn(sorted: Float32Array): RobustColumn {
  const median = quantile(sorted, 0.5);
  const away = sorted.map((value) => Math.abs(value - median)).filter((distance) => distance > 0);
  const alike = sorted.length - away.length >= sorted.length / 4;
  const middle = alike ? 2 * quantile(away.sort(), 0.5) : quantile(sorted, 0.75) - quantile(sorted, 0.25);
  const spread = away.length > 0 ? middle : 1;
  return { scale: 1 / spread, shift: -median / spread };
}

function quantile(sorted: Float32Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const next = sorted[Math.min(below + 1, sorted.length - 1)];
  return sorted[below] + (place - below) * (next - sorted[below]);
}
