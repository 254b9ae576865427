// The first frame of a GIF (CompuServe, "GIF89a"). Our own reader, because a damaged file must not keep a thread for ever:
// every loop here ends with the data or with the frame.

import { mostPixels } from './picture.ts';

const extension = 0x21;
const graphicControl = 0xf9;
const image = 0x2c;
/** Codes have twelve bits at most. */
const mostCodes = 4096;

/** Reads bytes in order. @throws Error past the end. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  byte(): number {
    return this.take(1)[0] as number;
  }

  short(): number {
    return this.byte() | (this.byte() << 8);
  }

  take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw new Error('its data end early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Sub-blocks, each behind its length, up to an empty one. */
  blocks(): Uint8Array {
    const blocks: Uint8Array[] = [];
    for (let size = this.byte(); size > 0; size = this.byte()) blocks.push(this.take(size));
    return Buffer.concat(blocks);
  }
}

/**
 * Decodes the first frame on its canvas: RGBA [height, width, 4], transparent where the frame does not reach.
 * @throws Error if the file is damaged.
 */
export function decodeGif(bytes: Uint8Array): { width: number; height: number; rgba: Uint8Array } {
  const reader = new ByteReader(bytes, 6);
  const width = reader.short();
  const height = reader.short();
  const shared = readPalette(reader, readFlags(reader, 2));
  const rgba = new Uint8Array(width * height * 4);
  let transparent = -1;
  for (;;) {
    const kind = reader.byte();
    if (kind === extension) {
      const label = reader.byte();
      const content = reader.blocks();
      if (label === graphicControl) transparent = ((content[0] ?? 0) & 1) === 1 ? (content[3] ?? -1) : -1;
    } else if (kind === image) {
      drawFrame(reader, { rgba, width, height, shared, transparent });
      return { width, height, rgba };
    } else {
      throw new Error('it has no frame');
    }
  }
}

/** A byte of flags, and what follows it that does not concern us. */
function readFlags(reader: ByteReader, follows: number): number {
  const flags = reader.byte();
  reader.take(follows);
  return flags;
}

/** Colours [entries, 3], if the flags say that there are some. */
function readPalette(reader: ByteReader, flags: number): Uint8Array | null {
  return flags & 0x80 ? reader.take(3 * 2 ** ((flags & 7) + 1)) : null;
}

interface Canvas {
  readonly rgba: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly shared: Uint8Array | null;
  /** Colour that is not drawn; −1 = none. */
  readonly transparent: number;
}

function drawFrame(reader: ByteReader, { rgba, width, height, shared, transparent }: Canvas): void {
  const [left, top, wide, high] = [reader.short(), reader.short(), reader.short(), reader.short()];
  if (wide * high > mostPixels) throw new Error(`a frame of ${wide} × ${high} pixels`);
  const flags = readFlags(reader, 0);
  const palette = readPalette(reader, flags) ?? shared;
  if (palette === null) throw new Error('it has no colours');
  const indices = expand(reader.byte(), reader.blocks(), wide * high);
  const rows = flags & 0x40 ? interlacedRows(high) : null;
  for (let row = 0; row < high; row++) {
    const y = top + (rows?.[row] ?? row);
    for (let column = 0; column < wide && y < height; column++) {
      const index = indices[row * wide + column] as number;
      const x = left + column;
      if (index === transparent || x >= width || 3 * index >= palette.length) continue;
      const to = 4 * (y * width + x);
      rgba.set(palette.subarray(3 * index, 3 * index + 3), to);
      rgba[to + 3] = 255;
    }
  }
}

/** Rows in the order they are stored: every eighth, those between, and so on. */
function interlacedRows(height: number): number[] {
  const rows: number[] = [];
  for (const [first, step] of [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const) {
    for (let row = first; row < height; row += step) rows.push(row);
  }
  return rows;
}

/** Undoes GIF's variant of LZW: `count` colour numbers. A code's prefix is always an older code, so chains end. */
function expand(rootBits: number, data: Uint8Array, count: number): Uint8Array {
  if (rootBits < 1 || rootBits > 8) throw new Error(`codes of ${rootBits} bits`);
  const clear = 2 ** rootBits;
  const prefixes = new Uint16Array(mostCodes);
  const suffixes = new Uint8Array(mostCodes);
  const indices = new Uint8Array(count);
  const chain = new Uint8Array(mostCodes);
  let next = clear + 2;
  let bits = rootBits + 1;
  let previous = -1;
  let [pool, pooled, at, done] = [0, 0, 0, 0];
  while (done < count) {
    for (; pooled < bits && at < data.length; pooled += 8) pool |= (data[at++] as number) << pooled;
    if (pooled < bits) throw new Error('its data end early');
    const code = pool & (2 ** bits - 1);
    pool >>>= bits;
    pooled -= bits;
    if (code === clear) {
      [next, bits, previous] = [clear + 2, rootBits + 1, -1];
      continue;
    }
    if (code === clear + 1) throw new Error('its data end early');
    if (code > next || (code === next && previous < 0) || (code >= clear && previous < 0))
      throw new Error('a wrong code');

    // The colours of a code, last first; the code about to be made is the one before and its own first colour.
    let length = 0;
    let rest = code < next ? code : previous;
    for (; rest > clear; rest = prefixes[rest] as number) chain[length++] = suffixes[rest] as number;
    const first = rest;
    chain[length++] = first;
    for (let index = length - 1; index >= 0 && done < count; index--) indices[done++] = chain[index] as number;
    if (code === next && done < count) indices[done++] = first;
    if (previous >= 0 && next < mostCodes) {
      prefixes[next] = previous;
      suffixes[next++] = first;
      if (next === 2 ** bits && bits < 12) bits++;
    }
    previous = code;
  }
  return indices;
}
