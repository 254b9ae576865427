// Small made-up image sets: what tests of models on images need, without files.

import type { InputSpec, OutputSpec } from '../../engine/model/spec.ts';
import type { PreparedData, Shard } from '../../engine/protocol/data.ts';
import { uniform } from './table.ts';

export interface MadeImages {
  readonly data: PreparedData;
  readonly x: Uint8Array;
  readonly y: Float32Array;
  readonly readShard: (shard: number) => Promise<Shard>;
}

export interface ImageOptions {
  readonly rows: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  /** Classes of the target; 0 = a number. */
  readonly classes: number;
  readonly split?: readonly [number, number, number];
  readonly shardRows?: number;
  readonly seed?: number;
}

/** Learnable images: noise, and a bright bar whose row tells the class. */
export function makeImages(options: ImageOptions): MadeImages {
  const { rows, channels, height, width, classes, split = [0.8, 0.1, 0.1], shardRows = rows, seed = 1 } = options;
  const random = uniform(seed);
  const size = channels * height * width;
  const x = Uint8Array.from({ length: rows * size }, () => Math.floor(random() * 120));
  const y = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const bar = Math.floor(random() * height);
    for (let c = 0; c < channels; c++) {
      const start = row * size + (c * height + bar) * width;
      x.fill(220 - 20 * c, start, start + width);
    }
    y[row] = classes > 0 ? Math.floor((bar * classes) / height) : bar / height;
  }
  const train = Math.round(rows * split[0]);
  const validation = Math.round(rows * split[1]);
  const input: InputSpec = { kind: 'image', channels, height, width };
  const output: OutputSpec =
    classes > 0
      ? { kind: 'classes', classes: Array.from({ length: classes }, (_, k) => `class ${k}`) }
      : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const shardStarts: number[] = [];
  for (let start = 0; start < rows; start += shardRows) shardStarts.push(start);
  shardStarts.push(rows);
  return {
    x,
    y,
    data: {
      handle: 'made',
      input,
      output,
      task: classes > 0 ? 'classification' : 'regression',
      counts: { train, validation, test: rows - train - validation },
      width: size,
      targets: 1,
      normalization: {
        mean: Array.from({ length: channels }, (_, c) => 0.25 + 0.05 * c),
        deviation: Array.from({ length: channels }, (_, c) => 0.2 + 0.02 * c),
      },
      shardStarts,
      classCounts: Array.from({ length: classes }, (_, k) => y.subarray(0, train).filter((v) => v === k).length),
      preprocessing: null,
      warnings: [],
    },
    readShard: async (shard) => {
      const [from, to] = [shardStarts[shard], shardStarts[shard + 1]];
      return { rows: to - from, x: x.slice(from * size, to * size), y: y.slice(from, to) };
    },
  };
}
