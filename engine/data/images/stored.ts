// An imported image dataset on disk, beside its manifest: `pixels.bin` with all pictures at their working size, as bytes
// [pictures, channels, height, width], and `pictures.json` with what is known of each.

import { open, readFile, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkippedFile, SplitName } from '../../protocol/data.ts';
import { explain } from '../failures.ts';
import type { ClassOrder } from './picture.ts';

export const pixelFile = 'pixels.bin';
export const pictureFile = 'pictures.json';

/** All that is known of a dataset's pictures. Lists have an entry a picture, in the order of the pixels. */
export interface StoredPictures {
  readonly files: readonly string[];
  readonly classes: readonly string[];
  readonly classOrder: ClassOrder;
  readonly labelledBy: string;
  /** Position of each picture's class in `classes`. */
  readonly labels: readonly number[];
  /** The split each picture came in; null = the source has no splits. */
  readonly splits: readonly SplitName[] | null;
  /** Original sizes. */
  readonly widths: readonly number[];
  readonly heights: readonly number[];
  /** Sums of values and of their squares: [pictures · channels]. */
  readonly sums: readonly number[];
  readonly squares: readonly number[];
  readonly twins: Twins;
  readonly skipped: readonly SkippedFile[];
}

/** Groups of pictures that are the same, or look the same: positions, ascending. */
export interface Twins {
  readonly same: readonly (readonly number[])[];
  readonly alike: readonly (readonly number[])[];
}

export async function writePictures(folder: string, pictures: StoredPictures): Promise<void> {
  try {
    await writeFile(join(folder, pictureFile), JSON.stringify(pictures));
  } catch (error) {
    throw explain(error);
  }
}

export async function readPictures(folder: string): Promise<StoredPictures> {
  return JSON.parse(await readFile(join(folder, pictureFile), 'utf8')) as StoredPictures;
}

/** Reads pictures by position. */
export class PixelReader {
  readonly #file: FileHandle;
  /** Bytes of a picture: channels · height · width. */
  readonly width: number;

  private constructor(file: FileHandle, width: number) {
    this.#file = file;
    this.width = width;
  }

  static async open(folder: string, width: number): Promise<PixelReader> {
    return new PixelReader(await open(join(folder, pixelFile), 'r'), width);
  }

  /** The pictures at these positions, one after the other; neighbours are read together, the others side by side. */
  async read(rows: Uint32Array): Promise<Uint8Array> {
    const pixels = new Uint8Array(rows.length * this.width);
    const reading: Promise<void>[] = [];
    for (let start = 0; start < rows.length;) {
      const first = rows[start] as number;
      let end = start + 1;
      while (end < rows.length && rows[end] === first + end - start) end++;
      reading.push(this.#readRun(pixels.subarray(start * this.width, end * this.width), first));
      start = end;
    }
    await Promise.all(reading);
    return pixels;
  }

  async #readRun(pixels: Uint8Array, first: number): Promise<void> {
    const { bytesRead } = await this.#file.read(pixels, 0, pixels.length, first * this.width);
    if (bytesRead !== pixels.length) throw new RangeError(`${pixelFile} ends within the pictures from ${first} on.`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
