// From the bytes of a picture file to its pixels at the working size: decode, turn upright, lay transparent parts on white,
// fit. Prediction goes the same way, so it sees the same pixels as training. Runs in worker threads.

import { FastResizeFilter, JsColorType, ResizeFit, Transformer } from '@napi-rs/image';
import { cutRectangle, fitRectangles } from './fit.ts';
import type { Rectangle } from './fit.ts';
import { decodeGif } from './gif.ts';
import { messageOf, readPictureHeader } from './header.ts';
import type { PictureHeader } from './header.ts';
import { UnreadablePicture } from './picture.ts';
import type { PictureShape } from './picture.ts';

/** 8-bit pixels, row by row, channels side by side: 1 grey, 3 RGB, 4 RGBA (opaque). */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly data: Uint8Array;
}

/**
 * Decodes a picture file to the working size.
 * @throws UnreadablePicture if it cannot be read.
 */
export function decodePicture(bytes: Uint8Array, shape: PictureShape): Bitmap {
  const header = readPictureHeader(bytes);
  try {
    if (header.format === 'gif') {
      const { rgba, width, height } = decodeGif(bytes);
      return fitBitmap(opaque(rgba, width, height), shape);
    }
    return decodeWithLibrary(bytes, header, shape);
  } catch (error) {
    throw new UnreadablePicture(`it is broken, or a rare kind of ${header.format.toUpperCase()}: ${messageOf(error)}`);
  }
}

/** The size of an upright picture. */
export function uprightSize({ width, height, orientation }: PictureHeader): { width: number; height: number } {
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

/** Brings pixels to the working size. */
export function fitBitmap(bitmap: Bitmap, shape: PictureShape): Bitmap {
  if (bitmap.width === shape.width && bitmap.height === shape.height) return bitmap;
  const { source, scaled } = fitRectangles(bitmap, shape);
  const cut = toRgba(bitmap, source);
  return place(resize(Transformer.fromRgbaPixels(cut.data, cut.width, cut.height), scaled), shape);
}

function decodeWithLibrary(bytes: Uint8Array, header: PictureHeader, shape: PictureShape): Bitmap {
  const transformer = new Transformer(bytes);
  const { colorType } = transformer.metadataSync();
  const size = uprightSize(header);
  if (header.orientation !== 1) transformer.rotate(header.orientation);
  const plain = colorType === JsColorType.L8 || colorType === JsColorType.Rgb8;
  const same = size.width === shape.width && size.height === shape.height;
  const { source, scaled } = fitRectangles(size, shape);
  const whole = source.width === size.width && source.height === size.height;
  // The library's own resize spares copying the whole picture.
  if (plain && whole && !same) return place(resize(transformer, scaled), shape);
  return fitBitmap(toBitmap(transformer.rawPixelsSync(), size, colorType), shape);
}

/** Bilinear with a support that grows with the reduction, so that nothing is skipped over. */
function resize(transformer: Transformer, { width, height }: { width: number; height: number }): Bitmap {
  const data = transformer
    .fastResize({ width, height, filter: FastResizeFilter.Bilinear, fit: ResizeFit.Fill })
    .rawPixelsSync();
  return { width, height, channels: 4, data };
}

/** Cuts the middle out of what is too large, and frames in black what is too small. */
function place(bitmap: Bitmap, { width, height }: PictureShape): Bitmap {
  if (bitmap.width === width && bitmap.height === height) return bitmap;
  const { channels } = bitmap;
  const data = new Uint8Array(width * height * channels);
  if (channels === 4) for (let at = 3; at < data.length; at += 4) data[at] = 255;
  const wide = Math.min(width, bitmap.width);
  const high = Math.min(height, bitmap.height);
  const from = { x: (bitmap.width - wide) >> 1, y: (bitmap.height - high) >> 1 };
  const to = { x: (width - wide) >> 1, y: (height - high) >> 1 };
  for (let y = 0; y < high; y++) {
    const start = ((from.y + y) * bitmap.width + from.x) * channels;
    data.set(bitmap.data.subarray(start, start + wide * channels), ((to.y + y) * width + to.x) * channels);
  }
  return { width, height, channels, data };
}

/** A part of a bitmap as opaque RGBA. */
function toRgba({ data, width, channels }: Bitmap, part: Rectangle): Bitmap {
  if (channels === 4) return { ...part, channels, data: cutRectangle(data, width, channels, part) };
  const rgba = new Uint8Array(part.width * part.height * 4);
  const step = channels === 3 ? 1 : 0;
  let to = 0;
  for (let y = 0; y < part.height; y++) {
    let from = ((part.y + y) * width + part.x) * channels;
    for (let x = 0; x < part.width; x++) {
      rgba[to] = data[from] as number;
      rgba[to + 1] = data[from + step] as number;
      rgba[to + 2] = data[from + 2 * step] as number;
      rgba[to + 3] = 255;
      to += 4;
      from += channels;
    }
  }
  return { width: part.width, height: part.height, channels: 4, data: rgba };
}

/** RGBA as opaque pixels; transparent parts show white. */
export function opaque(rgba: Uint8Array, width: number, height: number): Bitmap {
  return toBitmap(rgba, { width, height }, JsColorType.Rgba8);
}

/** Decoded values of any kind as opaque 8-bit pixels; transparent parts show white. */
function toBitmap(raw: Uint8Array, size: { width: number; height: number }, colorType: JsColorType): Bitmap {
  const pixels = size.width * size.height;
  const values = toBytes(raw, colorType);
  const channels = values.length / pixels;
  if (channels === 1 || channels === 3) return { ...size, channels, data: values };
  if (channels !== 2 && channels !== 4) throw new Error(`${values.length} values for ${pixels} pixels`);
  return { ...size, ...onWhite(values, pixels, channels) };
}

function toBytes(raw: Uint8Array, colorType: JsColorType): Uint8Array {
  const { buffer, byteOffset, byteLength } = raw;
  switch (colorType) {
    case JsColorType.L8:
    case JsColorType.La8:
    case JsColorType.Rgb8:
    case JsColorType.Rgba8:
      return raw;
    case JsColorType.L16:
    case JsColorType.La16:
    case JsColorType.Rgb16:
    case JsColorType.Rgba16:
      return Uint8Array.from(new Uint16Array(aligned(buffer, byteOffset, byteLength)), (value) => value >> 8);
    case JsColorType.Rgb32F:
    case JsColorType.Rgba32F:
      return Uint8Array.from(new Float32Array(aligned(buffer, byteOffset, byteLength)), (value) =>
        Math.round(255 * Math.min(1, Math.max(0, value))),
      );
    default:
      return colorType satisfies never;
  }
}

/** The same bytes in a buffer that begins with them. */
function aligned(buffer: ArrayBufferLike, offset: number, length: number): ArrayBuffer {
  return new Uint8Array(buffer, offset, length).slice().buffer;
}

/** Composes pixels with alpha over white. */
function onWhite(values: Uint8Array, pixels: number, channels: 2 | 4): Pick<Bitmap, 'channels' | 'data'> {
  const colours = channels === 2 ? 1 : 3;
  const data = new Uint8Array(pixels * colours);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const alpha = values[pixel * channels + colours] as number;
    for (let colour = 0; colour < colours; colour++) {
      const value = values[pixel * channels + colour] as number;
      data[pixel * colours + colour] = Math.round((value * alpha + 255 * (255 - alpha)) / 255);
    }
  }
  return { channels: colours, data };
}
