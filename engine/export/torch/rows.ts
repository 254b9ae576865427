// The rows of a run as arrays of numpy, as the run saw them: training rows first, then validation, then test.

import type { PreparedData, Shard } from '../../protocol/data.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { splitNames } from '../../protocol/use.ts';
import { cannotExport } from '../refusal.ts';
import { npy } from './npy.ts';

/** Bytes of rows that a project holds at most. */
const mostBytes = 2 ** 30;

/** `data/x.npy` and `data/y.npy`. */
export async function rowFiles(
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const { rows, x, y } = await readRows(data, readShard);
  return [
    { path: 'data/x.npy', data: npy(x, [rows, ...sidesOf(data)]) },
    { path: 'data/y.npy', data: npy(y, data.targets === 1 ? [rows] : [rows, data.targets]) },
  ];
}

/** Bytes of a shard: small enough to be copied and mapped one by one, large enough that there are few. */
const shardBytes = 2 ** 25;

/** Rows of a file of `shardFiles`. */
export const shardRowsOf = (data: PreparedData): number =>
  Math.max(1, Math.floor(shardBytes / (data.width * (data.input.kind === 'image' ? 1 : 4))));

/** `data/train-00000.x.npy`, `….y.npy` and so on: each split in files of `shardRowsOf` rows, the last one shorter. */
export async function shardFiles(
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const { x, y } = await readRows(data, readShard);
  const { counts, width } = data;
  const [size, sides] = [shardRowsOf(data), sidesOf(data)];
  const starts = { train: 0, validation: counts.train, test: counts.train + counts.validation };
  return splitNames.flatMap((split) =>
    Array.from({ length: Math.ceil(counts[split] / size) }, (_, shard) => {
      const from = starts[split] + shard * size;
      const to = Math.min(from + size, starts[split] + counts[split]);
      const name = `data/${split}-${String(shard).padStart(5, '0')}`;
      return [
        { path: `${name}.x.npy`, data: npy(x.subarray(from * width, to * width), [to - from, ...sides]) },
        { path: `${name}.y.npy`, data: npy(y.subarray(from, to), [to - from]) },
      ];
    }).flat(),
  );
}

/** Sides of a row. */
const sidesOf = ({ input, width }: PreparedData): readonly number[] =>
  input.kind === 'image' ? [input.channels, input.height, input.width] : [width];

async function readRows(
  { counts, width, targets, input, shardStarts }: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
) {
  const rows = counts.train + counts.validation + counts.test;
  const pixels = input.kind === 'image';
  if (rows * width * (pixels ? 1 : 4) > mostBytes) {
    throw cannotExport(
      'The rows of this run are too large for a project of files (over 1 GB).',
      'Export the model alone.',
    );
  }
  const x = pixels ? new Uint8Array(rows * width) : new Float32Array(rows * width);
  const y = new Float32Array(rows * targets);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const first = shardStarts[shard];
    const read = await readShard(shard);
    x.set(read.x, first * width);
    y.set(read.y.subarray(0, read.rows * targets), first * targets);
  }
  return { rows, x, y };
}
