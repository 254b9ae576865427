// Pictures at their working size: as planes of colour for the network, and measured, so that statistics, duplicates and
// near-duplicates are known without decoding again.

import { createHash } from 'node:crypto';
import type { Bitmap } from './decode.ts';
import type { DecodedBatch, PictureMeasures } from './picture.ts';

/** A picture as planes [channels, height, width]; one plane if it is grey. */
export interface Planes {
  readonly channels: 1 | 3;
  readonly values: Uint8Array;
}

/** Splits pixels into planes. */
export function toPlanes({ width, height, channels, data }: Bitmap): Planes {
  const size = width * height;
  if (channels === 1) return { channels: 1, values: data };
  const grey = isGrey(data, channels);
  const planes = grey ? 1 : 3;
  const values = new Uint8Array(planes * size);
  for (let plane = 0; plane < planes; plane++) {
    for (let at = plane * size, from = plane; at < (plane + 1) * size; at++, from += channels) {
      values[at] = data[from] as number;
    }
  }
  return { channels: planes, values };
}

function isGrey(data: Uint8Array, channels: number): boolean {
  for (let at = 0; at < data.length; at += channels) {
    if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return false;
  }
  return true;
}

/** Measures a picture `width` pixels wide. */
export function measurePicture({ channels, values }: Planes, width: number): PictureMeasures {
  const size = values.length / channels;
  const sums: number[] = [];
  const squares: number[] = [];
  for (let channel = 0; channel < channels; channel++) {
    let sum = 0;
    let square = 0;
    for (let at = channel * size; at < (channel + 1) * size; at++) {
      const value = values[at] as number;
      sum += value;
      square += value * value;
    }
    sums.push(sum);
    squares.push(square);
  }
  const hash = createHash('sha256').update(values).digest('hex').slice(0, 24);
  return { hash, look: differenceHash({ channels, values }, width), sums, squares };
}

const across = 9;
const down = 8;

/**
 * Whether each of 9 × 8 cells of mean brightness is darker than its right neighbour: 64 bits that change little when a
 * picture is scaled, compressed or brightened (the "dHash" of N. Krawetz).
 */
function differenceHash({ channels, values }: Planes, width: number): [number, number] {
  const size = values.length / channels;
  const height = size / width;
  const cells = new Float64Array(across * down);
  for (let row = 0; row < down; row++) {
    const [top, bottom] = cellRange(row, down, height);
    for (let column = 0; column < across; column++) {
      const [left, right] = cellRange(column, across, width);
      let sum = 0;
      for (let channel = 0; channel < channels; channel++) {
        for (let y = top; y < bottom; y++) {
          const start = channel * size + y * width;
          for (let x = left; x < right; x++) sum += values[start + x] as number;
        }
      }
      cells[row * across + column] = sum / ((bottom - top) * (right - left));
    }
  }
  const words: [number, number] = [0, 0];
  for (let bit = 0; bit < 64; bit++) {
    const cell = (bit >> 3) * across + (bit & 7);
    if ((cells[cell] as number) < (cells[cell + 1] as number)) words[bit >> 5] |= 1 << (bit & 31);
  }
  return [(words[0] as number) >>> 0, (words[1] as number) >>> 0];
}

/** Pixels of a cell: at least one. */
function cellRange(cell: number, cells: number, pixels: number): [number, number] {
  const start = Math.min(pixels - 1, Math.floor((cell * pixels) / cells));
  return [start, Math.max(start + 1, Math.floor(((cell + 1) * pixels) / cells))];
}

/** Puts pictures behind each other, all with as many channels as any of them needs. */
export function joinPlanes(pictures: readonly Planes[], size: number): Pick<DecodedBatch, 'channels' | 'pixels'> {
  const channels = pictures.some((picture) => picture.channels === 3) ? 3 : 1;
  const pixels = new Uint8Array(pictures.length * channels * size);
  pictures.forEach(({ channels: own, values }, index) => {
    const start = index * channels * size;
    if (own === channels) pixels.set(values, start);
    else for (let channel = 0; channel < channels; channel++) pixels.set(values, start + channel * size);
  });
  return { channels, pixels };
}
