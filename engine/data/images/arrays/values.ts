// Elements of any type as 8-bit pixels: what lies between 0 and 255, 0 and 1, or −1 and 1 is taken as just that; anything
// else is spread over the range.

import type { ImageLayout } from './pairs.ts';
import { numberReader } from './stored.ts';
import type { ElementType } from './stored.ts';

/** Smallest and largest element of an array. */
export interface ValueRange {
  readonly least: number;
  readonly most: number;
}

/** pixel = (value − offset) · factor */
export interface PixelScale {
  readonly offset: number;
  readonly factor: number;
  /** For people. */
  readonly description: string;
}

export const emptyRange: ValueRange = { least: Infinity, most: -Infinity };

/** The range of a piece of an array and of what came before; NaN does not count. */
export function widenRange(range: ValueRange, piece: Uint8Array, element: ElementType): ValueRange {
  const read = numberReader(element);
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
  let { least, most } = range;
  for (let at = 0; at < piece.length; at += element.bytes) {
    const value = read(view, at);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

/** How an array's values become pixels. */
export function pixelScale({ least, most }: ValueRange, { kind, bytes }: ElementType): PixelScale {
  if (kind === 'bool') return { offset: 0, factor: 255, description: 'true and false' };
  if (kind === 'uint' && bytes === 1) return { offset: 0, factor: 1, description: '0 … 255' };
  if (least >= 0 && most <= 1 && kind === 'float') return { offset: 0, factor: 255, description: '0 … 1' };
  if (least >= 0 && most <= 255) return { offset: 0, factor: 1, description: '0 … 255' };
  if (least >= -1 && most <= 1) return { offset: -1, factor: 127.5, description: '−1 … 1' };
  if (kind === 'uint' && bytes === 2) return { offset: 0, factor: 255 / 65535, description: '0 … 65535' };
  const description = `${least} … ${most}, spread over 0 … 255`;
  return { offset: least, factor: most > least ? 255 / (most - least) : 0, description };
}

/** Whole pictures of an array as pixels [count, height, width, channels]. */
export function toPixels(piece: Uint8Array, element: ElementType, scale: PixelScale, layout: ImageLayout): Uint8Array {
  const values = element.kind === 'uint' && element.bytes === 1 ? piece : scaled(piece, element, scale);
  return layout.channelsFirst && layout.channels > 1 ? channelsLast(values, layout) : values;
}

function scaled(piece: Uint8Array, element: ElementType, { offset, factor }: PixelScale): Uint8Array {
  const read = numberReader(element);
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
  const values = new Uint8Array(piece.length / element.bytes);
  for (let index = 0; index < values.length; index++) {
    const value = Math.round((read(view, index * element.bytes) - offset) * factor);
    values[index] = value > 255 ? 255 : value > 0 ? value : 0;
  }
  return values;
}

function channelsLast(values: Uint8Array, { height, width, channels }: ImageLayout): Uint8Array {
  const size = height * width;
  const turned = new Uint8Array(values.length);
  for (let start = 0; start < values.length; start += size * channels) {
    for (let pixel = 0; pixel < size; pixel++) {
      for (let channel = 0; channel < channels; channel++) {
        turned[start + pixel * channels + channel] = values[start + channel * size + pixel] as number;
      }
    }
  }
  return turned;
}
