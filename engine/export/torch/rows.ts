// The rows of a run as arrays of numpy, as the run saw them: training rows first, then validation, then test.

import type { PreparedData, Shard } from '../../protocol/data.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { cannotExport } from '../refusal.ts';
import { npy } from './npy.ts';

/** Bytes of rows that a project holds at most. */
const mostBytes = 2 ** 30;

/** `data/x.npy` and `data/y.npy`. */
export async function rowFiles(
  { counts, width, input, shardStarts }: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const rows = counts.train + counts.validation + counts.test;
  const pixels = input.kind === 'image';
  if (rows * width * (pixels ? 1 : 4) > mostBytes) {
    throw cannotExport(
      'The rows of this run are too large for a project of files (over 1 GB).',
      'Export the model alone.',
    );
  }
  const x = pixels ? new Uint8Array(rows * width) : new Float32Array(rows * width);
  const y = new Float32Array(rows);
  for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
    const first = shardStarts[shard];
    const read = await readShard(shard);
    x.set(read.x, first * width);
    y.set(read.y.subarray(0, read.rows), first);
  }
  const shape = input.kind === 'image' ? [rows, input.channels, input.height, input.width] : [rows, width];
  return [
    { path: 'data/x.npy', data: npy(x, shape) },
    { path: 'data/y.npy', data: npy(y, [rows]) },
  ];
}
