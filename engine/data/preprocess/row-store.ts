// Prepared rows, train first, then validation, then test: in memory if they are small, else in a file below the home.
// Either way a shard is one copy, and what is held in memory is bounded.

import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shard } from '../../protocol/data.ts';
import { explain } from '../failures.ts';
import type { DatasetStore } from '../store.ts';
import { makeValues, type Element, type Values } from './values.ts';

/** Prepared rows that can be read by number. */
export interface RowStore {
  /** Rows `start` … `end` − 1: x [rows, width], y [rows, targets]. */
  read(start: number, end: number): Promise<Shard>;
  release(): Promise<void>;
}

interface WritableRowStore extends RowStore {
  /** Stores consecutive rows from row `start` on. */
  write(start: number, x: Values, y: Float32Array): Promise<void> | void;
}

export interface RowShape {
  readonly rows: number;
  readonly element: Element;
  /** Values of x, and of y, a row. */
  readonly width: number;
  readonly targets: number;
}

/** Bytes of a shard: large enough for few messages, small enough to copy between processes without a pause. */
const shardBytes = 4 * 2 ** 20;
/** Rows gathered for a split before they are stored. */
const bufferBytes = 2 ** 18;

function bytesPerRow({ element, width, targets }: RowShape): number {
  return (element === 'f32' ? 4 : 8) * width + 4 * targets;
}

/** First row of each shard, plus the number of rows. */
export function shardStarts(shape: RowShape): number[] {
  const { rows } = shape;
  const rowsPerShard = Math.max(1, Math.floor(shardBytes / bytesPerRow(shape)));
  const starts: number[] = [];
  for (let start = 0; start < rows; start += rowsPerShard) starts.push(start);
  return [...starts, rows];
}

/** Where rows are kept: in memory up to `memoryBytes`, else in a work folder of the store. */
async function makeStore(shape: RowShape, store: DatasetStore, memoryBytes: number): Promise<WritableRowStore> {
  const bytes = shape.rows * bytesPerRow(shape);
  if (bytes <= memoryBytes) return new MemoryRows(shape);
  const folder = await store.makeAnyWorkFolder();
  return new FileRows(shape, folder, await open(join(folder, 'rows.bin'), 'w+'));
}

class MemoryRows implements WritableRowStore {
  readonly #shape: RowShape;
  #x: Values;
  #y: Float32Array;

  constructor(shape: RowShape) {
    this.#shape = shape;
    this.#x = makeValues(shape.element, shape.rows * shape.width);
    this.#y = new Float32Array(shape.rows * shape.targets);
  }

  write(start: number, x: Values, y: Float32Array): void {
    this.#x.set(x, start * this.#shape.width);
    this.#y.set(y, start * this.#shape.targets);
  }

  read(start: number, end: number): Promise<Shard> {
    const { width, targets } = this.#shape;
    // Copies: what is handed out may be transferred to another thread.
    const x = this.#x.slice(start * width, end * width);
    const y = this.#y.slice(start * targets, end * targets);
    return Promise.resolve({ rows: end - start, x, y });
  }

  release(): Promise<void> {
    this.#x = new Float32Array(0);
    this.#y = new Float32Array(0);
    return Promise.resolve();
  }
}

/** All x, then all y, little-endian. */
class FileRows implements WritableRowStore {
  readonly #shape: RowShape;
  readonly #folder: string;
  readonly #file: FileHandle;

  constructor(shape: RowShape, folder: string, file: FileHandle) {
    this.#shape = shape;
    this.#folder = folder;
    this.#file = file;
  }

  async write(start: number, x: Values, y: Float32Array): Promise<void> {
    try {
      await this.#file.write(bytesOf(x), 0, x.byteLength, this.#xOffset(start));
      await this.#file.write(bytesOf(y), 0, y.byteLength, this.#yOffset(start));
    } catch (error) {
      throw explain(error);
    }
  }

  async read(start: number, end: number): Promise<Shard> {
    const x = makeValues(this.#shape.element, (end - start) * this.#shape.width);
    const y = new Float32Array((end - start) * this.#shape.targets);
    await this.#file.read(bytesOf(x), 0, x.byteLength, this.#xOffset(start));
    await this.#file.read(bytesOf(y), 0, y.byteLength, this.#yOffset(start));
    return { rows: end - start, x, y };
  }

  async release(): Promise<void> {
    await this.#file.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #xOffset(row: number): number {
    return row * (bytesPerRow(this.#shape) - 4 * this.#shape.targets);
  }

  #yOffset(row: number): number {
    return this.#xOffset(this.#shape.rows) + 4 * row * this.#shape.targets;
  }
}

function bytesOf(values: Values): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Rows of one split on their way to the store. */
interface Region {
  readonly x: Values;
  readonly y: Float32Array;
  filled: number;
  /** Row of the store that the next buffer begins with. */
  next: number;
}

/** Sorts rows that come in the table's order into the splits' order. */
export class RowWriter {
  readonly #store: WritableRowStore;
  readonly #shape: RowShape;
  readonly #regions: readonly Region[];
  readonly #bufferRows: number;

  private constructor(store: WritableRowStore, shape: RowShape, counts: readonly number[]) {
    this.#store = store;
    this.#shape = shape;
    this.#bufferRows = Math.max(1, Math.floor(bufferBytes / bytesPerRow(shape)));
    let next = 0;
    this.#regions = counts.map((count) => {
      const region: Region = {
        x: makeValues(shape.element, this.#bufferRows * shape.width),
        y: new Float32Array(this.#bufferRows * shape.targets),
        filled: 0,
        next,
      };
      next += count;
      return region;
    });
  }

  /** `counts`: rows of each split. `memoryBytes`: larger data goes to a file. */
  static async create(
    shape: RowShape,
    counts: readonly number[],
    store: DatasetStore,
    memoryBytes: number,
  ): Promise<RowWriter> {
    return new RowWriter(await makeStore(shape, store, memoryBytes), shape, counts);
  }

  /** Takes over `rows` rows; those whose split is none of the counted ones are dropped. */
  async add(x: Values, y: Float32Array, rows: number, splitOf: (row: number) => number): Promise<void> {
    const { width, targets } = this.#shape;
    for (let row = 0; row < rows; row++) {
      const region = this.#regions[splitOf(row)];
      if (region === undefined) continue;
      const to = region.filled * width;
      const from = row * width;
      for (let column = 0; column < width; column++) region.x[to + column] = x[from + column] as number;
      for (let column = 0; column < targets; column++) {
        region.y[region.filled * targets + column] = y[row * targets + column] as number;
      }
      region.filled++;
      if (region.filled === this.#bufferRows) await this.#flush(region);
    }
  }

  async #flush(region: Region): Promise<void> {
    const { width, targets } = this.#shape;
    const { filled, next } = region;
    await this.#store.write(next, region.x.subarray(0, filled * width), region.y.subarray(0, filled * targets));
    region.next += filled;
    region.filled = 0;
  }

  /** The finished store. */
  async finish(): Promise<RowStore> {
    for (const region of this.#regions) await this.#flush(region);
    return this.#store;
  }

  /** Gives up: whatever was stored is removed. */
  abandon(): Promise<void> {
    return this.#store.release();
  }
}
