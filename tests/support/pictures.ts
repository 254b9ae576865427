// Tiny pictures and arrays made on the spot, in every format the import reads, so that no test needs files from elsewhere.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { Transformer } from '@napi-rs/image';
import { GifWriter } from 'omggif';
import { createDataService } from '../../engine/data/service.ts';
import type { DataService } from '../../engine/protocol/data.ts';

export type Colour = readonly [red: number, green: number, blue: number];

/** RGB of a pixel. */
export type Painting = (x: number, y: number) => Colour;

export const red: Colour = [220, 30, 40];
export const blue: Colour = [20, 60, 210];

/** One colour. */
export const plain =
  (colour: Colour): Painting =>
  () =>
    colour;

/** Left half, right half. */
export const halves =
  (left: Colour, right: Colour, width: number): Painting =>
  (x) =>
    x < width / 2 ? left : right;

/** Blocks of random colours: pictures that look like no other. */
export function noise(seed: number, block = 4): Painting {
  return (x, y) => {
    let bits = Math.imul(Math.floor(x / block) * 8191 + Math.floor(y / block) + seed * 2 ** 20, 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 15), 0xc2b2ae35);
    bits ^= bits >>> 13;
    return [bits & 255, (bits >>> 8) & 255, (bits >>> 16) & 255];
  };
}

export interface Canvas {
  readonly width: number;
  readonly height: number;
  /** RGBA */
  readonly pixels: Uint8Array;
}

export function paint(width: number, height: number, painting: Painting, alpha = 255): Canvas {
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set([...painting(x, y), alpha], 4 * (y * width + x));
  }
  return { width, height, pixels };
}

type Encoder = (canvas: Canvas) => Uint8Array;

const transformer = ({ width, height, pixels }: Canvas): Transformer =>
  Transformer.fromRgbaPixels(pixels, width, height);

/** PNG of any kind (W3C PNG, 11.2): rows of raw bytes, filter 0. */
export function png(
  { width, height }: { readonly width: number; readonly height: number },
  kind: { readonly depth: number; readonly colourType: number; readonly palette?: readonly number[] },
  row: (y: number) => readonly number[],
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([kind.depth, kind.colourType, 0, 0, 0], 8);
  const rows = Array.from({ length: height }, (_, y) => Buffer.from([0, ...row(y)]));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...(kind.palette ? [pngChunk('PLTE', Buffer.from(kind.palette))] : []),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(name: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.write(name, 4, 'latin1');
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}

/** EXIF data with an orientation, as a TIFF directory of one entry. */
export function exif(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('II*\0', 0, 'latin1');
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(1, 8);
  tiff.writeUInt16LE(0x0112, 10);
  tiff.writeUInt16LE(3, 12);
  tiff.writeUInt32LE(1, 14);
  tiff.writeUInt16LE(orientation, 18);
  return tiff;
}

/** A JPEG that says which way up it is. */
export function turnedJpeg(canvas: Canvas, orientation: number): Uint8Array {
  const jpeg = encoders.jpg(canvas);
  const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif(orientation)]);
  const segment = Buffer.alloc(4 + content.length);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(2 + content.length, 2);
  segment.set(content, 4);
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
}

/** An AVIF that says how it is turned: anticlockwise by quarters (irot), then mirrored (imir 0: top to bottom, 1: left to right). */
export function turnedAvif(
  canvas: Canvas,
  { irot, imir }: { readonly irot?: number; readonly imir?: number },
): Uint8Array {
  let avif = Buffer.from(encoders.avif(canvas));
  const place = (name: string): number => avif.indexOf(name, 0, 'latin1');
  for (const [name, value] of Object.entries({ irot, imir })) {
    if (value === undefined) continue;
    // One more property of the picture, the fifth or sixth, and its number in the list of those that count.
    const box = Buffer.from([0, 0, 0, 9, ...Buffer.from(name, 'latin1'), value]);
    const links = place('ipma') - 4;
    const count = avif.readUInt8(links + 18);
    avif.writeUInt8(count + 1, links + 18);
    avif.writeUInt32BE(avif.readUInt32BE(links) + 1, links);
    for (const [around, more] of [
      ['ipco', 9],
      ['iprp', 10],
      ['meta', 10],
    ] as const) {
      const at = place(around) - 4;
      avif.writeUInt32BE(avif.readUInt32BE(at) + more, at);
    }
    const pixels = place('iloc') + 4 + 14;
    avif.writeUInt32BE(avif.readUInt32BE(pixels) + 10, pixels);
    const end = links + 19 + count;
    avif = Buffer.concat([
      avif.subarray(0, links),
      box,
      avif.subarray(links, end),
      Buffer.from([0x80 | (count + 1)]),
      avif.subarray(end),
    ]);
  }
  return avif;
}

function gif({ width, height, pixels }: Canvas): Uint8Array {
  const palette = Array.from(
    { length: 256 },
    (_, i) => ((((i >> 5) * 255) / 7) << 16) | (((((i >> 2) & 7) * 255) / 7) << 8) | ((i & 3) * 85),
  );
  const buffer = new Uint8Array(2048 + 2 * width * height);
  const writer = new GifWriter(buffer, width, height, { palette });
  const index = (at: number): number => ((pixels[at] >> 5) << 5) | ((pixels[at + 1] >> 5) << 2) | (pixels[at + 2] >> 6);
  const indices = Array.from({ length: width * height }, (_, i) => index(4 * i));
  writer.addFrame(0, 0, width, height, indices);
  writer.addFrame(
    0,
    0,
    width,
    height,
    indices.map(() => 0),
  );
  return buffer.slice(0, writer.end());
}

/** Every format, by file ending. */
export const encoders = {
  jpg: (canvas) => transformer(canvas).jpegSync(92),
  png: (canvas) => transformer(canvas).pngSync(),
  webp: (canvas) => transformer(canvas).webpLosslessSync(),
  avif: (canvas) => transformer(canvas).avifSync({ quality: 90, speed: 10, threads: 1 }),
  bmp: (canvas) => transformer(canvas).bmpSync(),
  tiff: (canvas) => transformer(canvas).tiffSync(),
  pnm: (canvas) => transformer(canvas).pnmSync(),
  gif,
} satisfies Record<string, Encoder>;

/** An empty folder, removed when the test ends. */
export function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'trainyard-pictures-'));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Writes files by their paths below a folder. */
export function writeTree(folder: string, files: Readonly<Record<string, Uint8Array | string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** PNG files of noise, `count` a class, each of them different. */
export function noisyClasses(
  classes: readonly string[],
  count: number,
  {
    size = 16,
    prefix = '',
    seed = 0,
  }: { readonly size?: number; readonly prefix?: string; readonly seed?: number } = {},
): Record<string, Uint8Array> {
  return Object.fromEntries(
    classes.flatMap((name, index) =>
      Array.from({ length: count }, (_, i): [string, Uint8Array] => [
        `${prefix}${name}/${String(i).padStart(4, '0')}.png`,
        encoders.png(paint(size, size, noise(seed + 1000 * index + i))),
      ]),
    ),
  );
}

/** A data service with a home of its own. */
export function pictureService(test: TestContext): DataService & { readonly home: string } {
  const home = temporaryFolder(test);
  const service = createDataService({ home, threads: 2 });
  test.after(() => service.close());
  return { ...service, home };
}

/** NumPy's NPY format. `descr` as NumPy writes it: "|u1", "<f4", "<i8", "<U5". */
export function npy(descr: string, shape: readonly number[], data: Uint8Array): Uint8Array {
  const dimensions = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dimensions}), }`;
  const header = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY\x01\x00', 0, 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(header, 'latin1'), data]);
}

/** IDX with unsigned bytes. */
export function idx(shape: readonly number[], data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(4 + 4 * shape.length);
  header.set([0, 0, 8, shape.length]);
  shape.forEach((size, index) => header.writeUInt32BE(size, 4 + 4 * index));
  return Buffer.concat([header, data]);
}

/** A zip archive without compression. */
export function zip(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(locals.length, 8);
  end.writeUInt16LE(locals.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, entry) => sum + entry.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
}
