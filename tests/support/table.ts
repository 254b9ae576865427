// Small made-up tables and plans over them, for tests that need a model on data without files.

import { sequentialWords } from '../../engine/optim/random.ts';
import type { InputSpec, OutputSpec } from '../../engine/model/spec.ts';
import type { PreparedData, Shard } from '../../engine/protocol/data.ts';

export interface MadeTable {
  readonly data: PreparedData;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly readShard: (shard: number) => Promise<Shard>;
}

export interface TableOptions {
  readonly rows: number;
  readonly numeric: number;
  /** Classes of the target; 0 = a number. */
  readonly classes: number;
  readonly embeddings?: readonly { readonly vocabulary: number; readonly dimensions: number }[];
  /** Of 1 to `length` tokens; `vocabulary` counts the padding. */
  readonly texts?: readonly { readonly vocabulary: number; readonly length: number }[];
  /** Columns that are numbers; absent: all of `numeric`. */
  readonly numbers?: readonly number[];
  readonly split?: readonly [number, number, number];
  readonly shardRows?: number;
  readonly seed?: number;
}

/** A uniform number in [0, 1). */
export function uniform(seed: number): () => number {
  const words = sequentialWords(seed, 99, 0);
  return () => words() / 2 ** 32;
}

/** A learnable table: the target depends on the first columns with some noise. */
export function makeTable(options: TableOptions): MadeTable {
  const {
    rows,
    numeric,
    classes,
    embeddings = [],
    texts = [],
    split = [0.8, 0.1, 0.1],
    shardRows = rows,
    seed = 1,
  } = options;
  const random = uniform(seed);
  const width = numeric + embeddings.length + texts.reduce((sum, { length }) => sum + length, 0);
  const x = new Float32Array(rows * width);
  const y = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let i = 0; i < numeric; i++) {
      x[row * width + i] = random() * 4 - 2;
      sum += x[row * width + i] * (i % 3 === 0 ? 1 : i % 3 === 1 ? -0.5 : 0.25);
    }
    embeddings.forEach(({ vocabulary }, i) => {
      const code = Math.floor(random() * vocabulary);
      x[row * width + numeric + i] = code;
      sum += (code % 3) - 1;
    });
    let column = row * width + numeric + embeddings.length;
    for (const { vocabulary, length } of texts) {
      const tokens = 1 + Math.floor(random() * length);
      for (let t = 0; t < tokens; t++) {
        const code = 1 + Math.floor(random() * (vocabulary - 1));
        x[column + t] = code;
        sum += (code % 2 === 0 ? 1 : -1) / tokens;
      }
      column += length;
    }
    sum += 0.1 * (random() - 0.5);
    y[row] = classes > 0 ? Math.min(classes - 1, Math.max(0, Math.floor(classes / 2 + sum))) : sum;
  }
  const train = Math.round(rows * split[0]);
  const validation = Math.round(rows * split[1]);
  const input: InputSpec = {
    kind: 'table',
    width,
    numeric,
    embeddings: embeddings.map((column, i) => ({ name: `c${i}`, ...column })),
    ...(options.numbers ? { numbers: options.numbers } : {}),
    ...(texts.length > 0 ? { texts: texts.map((text, i) => ({ name: `t${i}`, ...text })) } : {}),
  };
  const output: OutputSpec =
    classes > 0
      ? { kind: 'classes', classes: Array.from({ length: classes }, (_, k) => `class ${k}`) }
      : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const classCounts = Array.from({ length: classes }, (_, k) => y.subarray(0, train).filter((v) => v === k).length);
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
      width,
      targets: 1,
      shardStarts,
      classCounts,
      preprocessing: null,
      warnings: [],
    },
    readShard: async (shard) => {
      const [from, to] = [shardStarts[shard], shardStarts[shard + 1]];
      return { rows: to - from, x: x.slice(from * width, to * width), y: y.slice(from, to) };
    },
  };
}
