// Writes decoded pictures as they come. The file has one channel until the first picture in colour; then what is there is
// written once more with three.

import { open, rename } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../failures.ts';
import type { DecodedBatch } from './picture.ts';
import { pixelFile } from './stored.ts';

/** Pictures copied at once when colour comes. */
const copiedBytes = 2 ** 21;

export class PixelWriter {
  readonly #folder: string;
  /** Pixels of a picture in one channel. */
  readonly #size: number;
  #file: FileHandle;
  #pictures = 0;
  channels: 1 | 3 = 1;

  private constructor(folder: string, size: number, file: FileHandle) {
    this.#folder = folder;
    this.#size = size;
    this.#file = file;
  }

  static async create(folder: string, size: number): Promise<PixelWriter> {
    return new PixelWriter(folder, size, await create(join(folder, pixelFile)));
  }

  async add({ channels, pixels }: Pick<DecodedBatch, 'channels' | 'pixels'>): Promise<void> {
    if (pixels.length === 0) return;
    if (channels > this.channels) await this.#addColour();
    await this.#write(this.#file, channels < this.channels ? tripled(pixels, this.#size) : pixels);
    this.#pictures += pixels.length / (channels * this.#size);
  }

  /** Puts everything safely on disk. */
  async finish(): Promise<void> {
    await this.#file.sync();
    await this.close();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #addColour(): Promise<void> {
    this.channels = 3;
    if (this.#pictures === 0) return;
    const path = join(this.#folder, pixelFile);
    const coloured = await create(`${path}.colour`);
    const rows = Math.max(1, Math.floor(copiedBytes / this.#size));
    for (let start = 0; start < this.#pictures; start += rows) {
      const grey = new Uint8Array(Math.min(rows, this.#pictures - start) * this.#size);
      await this.#file.read(grey, 0, grey.length, start * this.#size);
      await this.#write(coloured, tripled(grey, this.#size));
    }
    await this.#file.close();
    await rename(`${path}.colour`, path);
    this.#file = coloured;
  }

  async #write(file: FileHandle, bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
      }
    } catch (error) {
      throw explain(error);
    }
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w+');
  } catch (error) {
    throw explain(error);
  }
}

/** Grey pictures as pictures in three equal channels. */
function tripled(grey: Uint8Array, size: number): Uint8Array {
  const coloured = new Uint8Array(grey.length * 3);
  for (let start = 0; start < grey.length; start += size) {
    const plane = grey.subarray(start, start + size);
    for (let channel = 0; channel < 3; channel++) coloured.set(plane, 3 * start + channel * size);
  }
  return coloured;
}
