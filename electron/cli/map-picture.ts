// A picture and the maps that explain it, side by side as one PNG: colours as they are, each map as a veil over the picture.

import { crc32, deflateSync } from 'node:zlib';

/** Values 0 … 1 [height, width] of what speaks for a class. */
export interface MapOfPicture {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** RGBA [height, width, 4]. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Small pictures are drawn with several points a pixel until they are so high. */
const leastHeight = 224;
/** Points between pictures. */
const gap = 8;
/** What stands for the strongest evidence, and how much of it covers the picture there. */
const [veil, strength] = [[255, 96, 0], 0.8] as const;

/** The picture alone, then under each of the maps. */
export function sideBySide(picture: Pixels, maps: readonly MapOfPicture[]): Pixels {
  const scale = Math.max(1, Math.ceil(leastHeight / picture.height));
  const [width, height] = [picture.width * scale, picture.height * scale];
  const all = [null, ...maps];
  const whole = all.length * (width + gap) - gap;
  const pixels = new Uint8Array(whole * height * 4).fill(255);
  all.forEach((map, panel) => {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const from = (Math.floor(y / scale) * picture.width + Math.floor(x / scale)) * 4;
        const to = (y * whole + panel * (width + gap) + x) * 4;
        const share = map ? strength * between(map, (x + 0.5) / width, (y + 0.5) / height) : 0;
        for (let colour = 0; colour < 3; colour++) {
          pixels[to + colour] = Math.round(picture.pixels[from + colour] * (1 - share) + veil[colour] * share);
        }
      }
    }
  });
  return { width: whole, height, pixels };
}

/** The value at a place, each of 0 … 1, bilinear between the centres of the cells. */
function between({ width, height, values }: MapOfPicture, across: number, down: number): number {
  const [x, y] = [clamp(across * width - 0.5, width), clamp(down * height - 0.5, height)];
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, bottom] = [Math.min(width - 1, left + 1), Math.min(height - 1, top + 1)];
  const [fx, fy] = [x - left, y - top];
  const row = (at: number): number => values[at * width + left] * (1 - fx) + values[at * width + right] * fx;
  return row(top) * (1 - fy) + row(bottom) * fy;
}

const clamp = (value: number, size: number): number => Math.min(size - 1, Math.max(0, value));

/** A PNG file (ISO/IEC 15948), RGB with 8 bits a colour. */
export function pngOf({ width, height, pixels }: Pixels): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4;
      rows.set(pixels.subarray(from, from + 3), y * (1 + 3 * width) + 1 + 3 * x);
    }
  }
  const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
