// From picture files of every format to pixels: the same painting comes out, upright, on white, at the working size; and
// what is no picture is refused with a reason.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { avifOrientation } from '../../engine/data/images/avif.ts';
import { decodePicture, uprightSize } from '../../engine/data/images/decode.ts';
import type { Bitmap } from '../../engine/data/images/decode.ts';
import { readPictureHeader } from '../../engine/data/images/header.ts';
import { measurePicture, toPlanes } from '../../engine/data/images/measure.ts';
import { UnreadablePicture } from '../../engine/data/images/picture.ts';
import {
  blue,
  encoders,
  exif,
  halves,
  noise,
  paint,
  plain,
  png,
  pngChunk,
  red,
  turnedAvif,
  turnedJpeg,
} from '../support/pictures.ts';

const width = 24;
const height = 16;
const own = { width, height, fit: 'crop' } as const;
const canvas = paint(width, height, halves(red, blue, width));

/** RGB of a pixel. */
function at({ width: across, channels, data }: Bitmap, x: number, y: number): number[] {
  const start = (y * across + x) * channels;
  return channels === 1 ? [data[start], data[start], data[start]] : [...data.subarray(start, start + 3)];
}

function near(actual: readonly number[], expected: readonly number[], tolerance: number, what = ''): void {
  const off = Math.max(...actual.map((value, index) => Math.abs(value - expected[index])));
  assert.ok(off <= tolerance, `${what}: ${actual.join()} is not ${expected.join()}`);
}

/** Lossy formats, and GIF with its 256 colours, may be off by this much. */
const tolerances: Readonly<Record<string, number>> = { jpg: 12, avif: 12, gif: 48 };

for (const [format, encode] of Object.entries(encoders)) {
  test(`${format}: the painting comes out`, () => {
    const bytes = encode(canvas);
    assert.deepEqual(uprightSize(readPictureHeader(bytes)), { width, height });
    const bitmap = decodePicture(bytes, own);
    near(at(bitmap, 2, 8), red, tolerances[format] ?? 0, format);
    near(at(bitmap, width - 3, 8), blue, tolerances[format] ?? 0, format);
  });
}

test('a CMYK JPEG is read', () => {
  // Red grows to the right, green to the bottom; blue is even.
  const bitmap = decodePicture(readFileSync(path.join(import.meta.dirname, '../fixtures/images/cmyk.jpg')), {
    width: 40,
    height: 24,
    fit: 'crop',
  });
  const [corner, opposite] = [at(bitmap, 2, 2), at(bitmap, 37, 21)];
  assert.ok(opposite[0] > corner[0] + 100 && opposite[1] > corner[1] + 100, `${corner.join()} … ${opposite.join()}`);
});

test('PNG of every depth and kind: grey, palette, alpha, 16 bits', () => {
  const size = { width: 8, height: 8 };
  const shape = { ...size, fit: 'crop' } as const;
  const left = (y: number, bits: number): number[] => (bits === 1 ? [0xf0] : [y]);
  const cases: [string, Uint8Array, number[], number[]][] = [
    ['1 bit', png(size, { depth: 1, colourType: 0 }, (y) => left(y, 1)), [255, 255, 255], [0, 0, 0]],
    ['2 bits', png(size, { depth: 2, colourType: 0 }, () => [0xaa, 0x00]), [170, 170, 170], [0, 0, 0]],
    ['4 bits', png(size, { depth: 4, colourType: 0 }, () => [0xff, 0xff, 0x33, 0x33]), [255, 255, 255], [51, 51, 51]],
    [
      '16 bits',
      png(size, { depth: 16, colourType: 0 }, () => Array<number>(16).fill(0x80)),
      [128, 128, 128],
      [128, 128, 128],
    ],
    [
      '16 bits RGB',
      png(size, { depth: 16, colourType: 2 }, () => Array.from({ length: 8 }, () => [200, 9, 100, 9, 50, 9]).flat()),
      [200, 100, 50],
      [200, 100, 50],
    ],
    [
      'palette',
      png(size, { depth: 8, colourType: 3, palette: [...red, ...blue] }, () => [0, 0, 0, 0, 1, 1, 1, 1]),
      [...red],
      [...blue],
    ],
    [
      'grey with alpha',
      png(size, { depth: 8, colourType: 4 }, () => Array.from({ length: 8 }, (_, x) => [0, x < 4 ? 255 : 0]).flat()),
      [0, 0, 0],
      [255, 255, 255],
    ],
    [
      'RGB with alpha',
      png(size, { depth: 8, colourType: 6 }, () =>
        Array.from({ length: 8 }, (_, x) => [...red, x < 4 ? 255 : 0]).flat(),
      ),
      [...red],
      [255, 255, 255],
    ],
  ];
  for (const [name, bytes, first, last] of cases) {
    const bitmap = decodePicture(bytes, shape);
    assert.deepEqual(at(bitmap, 1, 4), first, name);
    assert.deepEqual(at(bitmap, 6, 4), last, name);
  }
});

test('half transparent pixels lie on white, before and after scaling', () => {
  const bytes = encoders.png(paint(16, 16, plain([0, 0, 0]), 128));
  near(at(decodePicture(bytes, { width: 16, height: 16, fit: 'crop' }), 8, 8), [127, 127, 127], 0);
  near(at(decodePicture(bytes, { width: 8, height: 8, fit: 'crop' }), 4, 4), [127, 127, 127], 1);
});

test('AVIF is turned and mirrored as its own boxes say, in all eight ways', () => {
  // Red at the left, and darker at the top.
  const shaded = paint(width, height, (x, y) => {
    const [r, g, b] = x < width / 2 ? red : blue;
    return y < height / 2 ? [r / 2, g / 2, b / 2] : [r, g, b];
  });
  // As EXIF numbers them: what JPEG does with the same number.
  const ways: readonly (readonly [orientation: number, boxes: Parameters<typeof turnedAvif>[1]])[] = [
    [1, {}],
    [2, { imir: 1 }],
    [3, { irot: 2 }],
    [4, { imir: 0 }],
    [5, { irot: 1, imir: 0 }],
    [6, { irot: 3 }],
    [7, { irot: 3, imir: 0 }],
    [8, { irot: 1 }],
    [2, { irot: 2, imir: 0 }],
    [4, { irot: 2, imir: 1 }],
    [5, { irot: 3, imir: 1 }],
    [7, { irot: 1, imir: 1 }],
  ];
  for (const [orientation, boxes] of ways) {
    const bytes = turnedAvif(shaded, boxes);
    const header = readPictureHeader(bytes);
    assert.equal(header.orientation, orientation);
    const shape = { ...uprightSize(header), fit: 'crop' } as const;
    const [avif, jpeg] = [decodePicture(bytes, shape), decodePicture(turnedJpeg(shaded, orientation), shape)];
    for (const [x, y] of [
      [3, 3],
      [shape.width - 4, 3],
      [3, shape.height - 4],
    ] as const) {
      near(at(avif, x, y), at(jpeg, x, y), 16, `${orientation} at ${x}, ${y}`);
    }
  }
  // Boxes that lie, or end in the middle, turn nothing and do no harm.
  const turned = turnedAvif(shaded, { irot: 1 });
  for (let end = 0; end < 300; end++) assert.ok(avifOrientation(turned.subarray(0, end)) >= 1);
  const wide = Uint8Array.from(turned).fill(0xff, turned.indexOf(0x69), turned.length);
  assert.equal(avifOrientation(wide), 1);
});

test('EXIF orientation turns a picture upright, in JPEG, PNG, WebP and TIFF', () => {
  // Stored with red at the left; turned by 90° clockwise it is at the top, by 270° at the bottom.
  const webp = Buffer.from(encoders.webp(canvas));
  const chunk = Buffer.concat([Buffer.from('EXIF', 'latin1'), Buffer.from([26, 0, 0, 0]), exif(6)]);
  const riff = Buffer.concat([webp, chunk]);
  riff.writeUInt32LE(riff.length - 8, 4);
  const plainPng = encoders.png(canvas);
  const withChunk = Buffer.concat([plainPng.subarray(0, 33), pngChunk('eXIf', exif(6)), plainPng.subarray(33)]);
  const files: [string, Uint8Array, readonly number[]][] = [
    ['JPEG, 90°', turnedJpeg(canvas, 6), red],
    ['JPEG, 270°', turnedJpeg(canvas, 8), blue],
    ['PNG', withChunk, red],
    ['WebP', riff, red],
  ];
  for (const [name, bytes, top] of files) {
    assert.deepEqual(uprightSize(readPictureHeader(bytes)), { width: height, height: width }, name);
    const bitmap = decodePicture(bytes, { width: height, height: width, fit: 'crop' });
    near(at(bitmap, 8, 2), top, 12, name);
  }
  const mirrored = decodePicture(turnedJpeg(canvas, 2), own);
  near(at(mirrored, 2, 8), blue, 12, 'mirrored');
  // A tag that makes no sense is passed over.
  near(at(decodePicture(turnedJpeg(canvas, 77), own), 2, 8), red, 12, 'nonsense');
});

test('crop, pad and stretch', () => {
  const bytes = encoders.png(paint(40, 20, (x) => (x < 10 ? red : x < 30 ? [90, 90, 90] : blue)));
  const crop = decodePicture(bytes, { width: 20, height: 20, fit: 'crop' });
  for (const x of [1, 10, 18]) near(at(crop, x, 10), [90, 90, 90], 2, 'the middle is kept');
  const pad = decodePicture(bytes, { width: 20, height: 20, fit: 'pad' });
  assert.deepEqual(at(pad, 10, 2), [0, 0, 0], 'black above');
  assert.deepEqual(at(pad, 10, 17), [0, 0, 0], 'black below');
  near(at(pad, 1, 10), red, 2, 'the whole width is kept');
  const stretch = decodePicture(bytes, { width: 20, height: 20, fit: 'stretch' });
  near(at(stretch, 1, 1), red, 2);
  near(at(stretch, 18, 18), blue, 2);
});

test('a picture far longer than its shape is cut before it is scaled', () => {
  const bytes = encoders.png(paint(4000, 4, (x) => (x > 1900 && x < 2100 ? red : blue)));
  const bitmap = decodePicture(bytes, { width: 64, height: 64, fit: 'crop' });
  near(at(bitmap, 32, 32), red, 2);
  assert.equal(bitmap.data.length, 64 * 64 * bitmap.channels);
});

test('grey pictures have one plane, whatever they are stored as', () => {
  const grey = toPlanes(
    decodePicture(encoders.png(paint(8, 8, (x) => [x, x, x])), { width: 8, height: 8, fit: 'crop' }),
  );
  assert.equal(grey.channels, 1);
  assert.deepEqual([...grey.values.subarray(0, 8)], [0, 1, 2, 3, 4, 5, 6, 7]);
  const coloured = toPlanes(decodePicture(encoders.png(canvas), own));
  assert.equal(coloured.channels, 3);
  assert.deepEqual(
    [coloured.values[0], coloured.values[width * height], coloured.values[2 * width * height]],
    [...red],
  );
});

test('sums and squares are those of the pixels; the hash of a look changes little with scale', () => {
  const shape = { width: 32, height: 32, fit: 'stretch' } as const;
  const wave = (x: number, phase: number): number => Math.round(127 + 120 * Math.sin(x + phase));
  const scene = (size: number): Uint8Array =>
    encoders.png(
      paint(size, size, (x, y) => [wave((9 * x) / size, 0), wave((7 * y) / size, 1), wave((5 * (x + y)) / size, 2)]),
    );
  const planes = toPlanes(decodePicture(scene(32), shape));
  const measures = measurePicture(planes, 32);
  const first = [...planes.values.subarray(0, 1024)];
  assert.equal(
    measures.sums[0],
    first.reduce((sum, value) => sum + value, 0),
  );
  assert.equal(
    measures.squares[0],
    first.reduce((sum, value) => sum + value * value, 0),
  );
  const other = measurePicture(toPlanes(decodePicture(scene(100), shape)), 32);
  assert.notEqual(other.hash, measures.hash);
  assert.ok(differingBits(measures.look, other.look) <= 3, 'the same at another scale');
  const different = measurePicture(toPlanes(decodePicture(encoders.png(paint(32, 32, noise(5))), shape)), 32);
  assert.ok(differingBits(measures.look, different.look) > 15, 'another picture');
});

function differingBits(first: readonly number[], second: readonly number[]): number {
  const words = first.map((word, index) => ((word ^ second[index]) >>> 0).toString(2));
  return words.join('').replaceAll('0', '').length;
}

/** Cuts a file short. */
const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1);

const jpeg = encoders.jpg(canvas);
const bomb = Buffer.from(encoders.png(paint(2, 2, plain(red))));
bomb.writeUInt32BE(60_000, 16);
bomb.writeUInt32BE(60_000, 20);

for (const [name, bytes, reason] of [
  ['an empty file', new Uint8Array(0), /empty/],
  ['text', Buffer.from('this is a note, not a picture\n'), /not a picture/],
  ['JSON', Buffer.from('{"a": [1, 2, 3]}'), /not a picture/],
  ['a JPEG without its end', jpeg.subarray(0, jpeg.length - 2), /cut off/],
  ['half a JPEG', half(jpeg), /cut off|broken/],
  ['half a PNG', half(encoders.png(paint(64, 64, (x, y) => [x * y, x, y]))), /broken/],
  ['half a WebP', half(encoders.webp(canvas)), /broken/],
  ['half a GIF', half(encoders.gif(canvas)), /broken/],
  ['half a TIFF', half(encoders.tiff(canvas)), /broken/],
  ['half a BMP', half(encoders.bmp(canvas)), /broken/],
  ['half an AVIF', half(encoders.avif(canvas)), /broken/],
  ['a decompression bomb', bomb, /huge: 60000 × 60000 pixels/],
  [
    'a vector graphic',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'),
    /SVG pictures cannot/,
  ],
] as const) {
  test(`${name} is refused with the reason`, () => {
    assert.throws(
      () => decodePicture(bytes, own),
      (error: unknown) => error instanceof UnreadablePicture && reason.test(error.message),
    );
  });
}

test('the bomb is refused before it is decoded', () => {
  const start = performance.now();
  assert.throws(() => readPictureHeader(bomb), /huge/);
  assert.ok(performance.now() - start < 50);
});

test('an interlaced GIF has its rows where they belong', () => {
  // Stored as red rows, then blue ones; the first half of what is stored are the even rows.
  const bytes = Uint8Array.from(encoders.gif(paint(16, 16, (_, y) => (y < 8 ? red : blue))));
  const palette = 13 + 3 * 256;
  bytes[bytes.indexOf(0x2c, palette) + 9] |= 0x40;
  const bitmap = decodePicture(bytes, { width: 16, height: 16, fit: 'crop' });
  for (let y = 0; y < 16; y++) near(at(bitmap, 5, y), y % 2 === 0 ? red : blue, 48, `row ${y}`);
});

test('damaged files of every format are read or refused, quickly, and nothing else happens', () => {
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  for (const [format, encode] of Object.entries(encoders)) {
    const whole = encode(canvas);
    for (let round = 0; round < 60; round++) {
      const bytes = Uint8Array.from(round % 4 === 0 ? whole.subarray(0, random(whole.length)) : whole);
      const within = round % 2 === 0 ? bytes.length : Math.min(64, bytes.length);
      for (let change = 0; change < 5 && within > 0; change++) bytes[random(within)] = random(256);
      const start = performance.now();
      try {
        decodePicture(bytes, own);
      } catch (error) {
        assert.ok(error instanceof UnreadablePicture, `${format}, round ${round}: ${String(error)}`);
      }
      assert.ok(performance.now() - start < 2000, `${format}, round ${round}`);
    }
  }
});
