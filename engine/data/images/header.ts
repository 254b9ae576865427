// The first look at a picture file, before anything is decoded: which format, how large, which way up, and whether its end
// is there. What is refused here costs nothing, however many pixels it claims to have.

import { imageSize } from 'image-size';
import { requireJpegEnd } from './jpeg.ts';
import { readOrientation } from './orientation.ts';
import { mostBytes, mostPixels, UnreadablePicture } from './picture.ts';
import { formats } from './picture-format.ts';
import type { Orientation, PictureFormat } from './picture-format.ts';
import { ownValue } from '../../protocol/own.ts';

export interface PictureHeader {
  readonly format: PictureFormat;
  /** Pixels as they are stored, before turning. */
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
}

/** Names of image-size that we call otherwise. */
const otherNames: Readonly<Record<string, string>> = { jpg: 'jpeg', bigtiff: 'tiff' };
/** Picture formats that are recognised and cannot be read. */
const unreadable = [
  'heic',
  'heif',
  'svg',
  'psd',
  'jxl',
  'jxl-stream',
  'jp2',
  'j2c',
  'dds',
  'ktx',
  'icns',
  'ico',
  'cur',
];

/** Why a file is left out that has no beginning of any picture. */
export const notAPicture = 'it is not a picture';

/** @throws UnreadablePicture if this is no picture that can be decoded. */
export function readPictureHeader(bytes: Uint8Array): PictureHeader {
  if (bytes.length === 0) throw new UnreadablePicture('it is empty (0 bytes)');
  requireSize(bytes.length);
  const { type, width, height } = measure(bytes);
  const format = formats.find((known) => known === type);
  if (format === undefined) {
    if (unreadable.includes(type)) {
      throw new UnreadablePicture(`${type.toUpperCase()} pictures cannot be read: save it as PNG or JPEG`);
    }
    throw new UnreadablePicture(notAPicture);
  }
  if (!(width > 0 && height > 0)) throw new UnreadablePicture(`it is broken: a size of ${width} × ${height} pixels`);
  if (width * height > mostPixels) {
    throw new UnreadablePicture(
      `it is huge: ${width} × ${height} pixels, ${Math.floor(mostPixels / 1e6)} million at most are decoded`,
    );
  }
  if (format === 'jpeg') requireJpegEnd(bytes);
  return { format, width, height, orientation: readOrientation(format, bytes) };
}

/** @throws UnreadablePicture if a file has too many bytes. */
export function requireSize(bytes: number): void {
  if (bytes <= mostBytes) return;
  throw new UnreadablePicture(`it is too large: ${Math.round(bytes / 1e6)} MB, ${mostBytes / 2 ** 20} MiB at most`);
}

/** @throws UnreadablePicture unless a file begins like a picture. `start`: its first 16 bytes. */
export function requireBeginning(start: Uint8Array): void {
  if (!looksLikePicture(start)) throw new UnreadablePicture(notAPicture);
}

function measure(bytes: Uint8Array): { type: string; width: number; height: number } {
  try {
    const { type = '', width, height } = imageSize(bytes);
    return { type: ownValue(otherNames, type) ?? type, width, height };
  } catch (error) {
    if (looksLikePicture(bytes)) throw new UnreadablePicture(`it is broken: ${messageOf(error)}`);
    throw new UnreadablePicture(notAPicture);
  }
}

/** Beginnings of the commonest formats: a file that has one and cannot be measured is a broken picture. */
const beginnings = ['\xff\xd8\xff', '\x89PNG', 'GIF8', 'RIFF', 'II*\0', 'MM\0*', 'II+\0', 'MM\0+', 'BM', 'P5', 'P6'];

function looksLikePicture(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return start.endsWith('ftypavif') || beginnings.some((beginning) => start.startsWith(beginning));
}

/** The first line of an error's message, shortened for a list of many files. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n', 1)[0] ?? text).slice(0, 120);
}
