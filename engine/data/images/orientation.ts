// Which way up a picture is: the EXIF tag "orientation" (CIPA DC-008, 4.6.4), which stands in a TIFF directory that every
// format packs its own way; AVIF has boxes of its own for it.

import { avifOrientation } from './avif.ts';
import type { Orientation, PictureFormat } from './picture-format.ts';
import { jpegSegments } from './jpeg.ts';

const orientationTag = 0x0112;
const shortType = 3;
/** Version of TIFF with 32-bit offsets. */
const classicTiff = 42;

/** The orientation a picture file asks for; 1 if it says nothing, or nothing that makes sense. */
export function readOrientation(format: PictureFormat, bytes: Uint8Array): Orientation {
  if (format === 'avif') return avifOrientation(bytes);
  const directory = findExif(format, bytes);
  return directory === null ? 1 : readTag(directory);
}

/** The TIFF directory with a picture's EXIF data. */
function findExif(format: Exclude<PictureFormat, 'avif'>, bytes: Uint8Array): Uint8Array | null {
  switch (format) {
    case 'jpeg':
      for (const { marker, start, end } of jpegSegments(bytes)) {
        if (marker === 0xe1 && textAt(bytes, start, 6) === 'Exif\0\0') return bytes.subarray(start + 6, end);
      }
      return null;
    case 'png':
      return findChunk(bytes, { first: 8, littleEndian: false, sizeFirst: true, trailer: 4, name: 'eXIf' });
    case 'webp': {
      const chunk = findChunk(bytes, { first: 12, littleEndian: true, sizeFirst: false, trailer: 0, name: 'EXIF' });
      // Some writers put JPEG's prefix before it.
      return chunk !== null && textAt(chunk, 0, 6) === 'Exif\0\0' ? chunk.subarray(6) : chunk;
    }
    case 'tiff':
      return bytes;
    case 'bmp':
    case 'gif':
    case 'pnm':
      return null;
    default:
      return format satisfies never;
  }
}

interface ChunkLayout {
  /** Where the first chunk begins. */
  readonly first: number;
  readonly littleEndian: boolean;
  /** Size before name (PNG), or name before size (RIFF). */
  readonly sizeFirst: boolean;
  /** Bytes behind the content. */
  readonly trailer: number;
  readonly name: string;
}

/** The content of the first chunk of a name in a PNG or RIFF file. */
function findChunk(
  bytes: Uint8Array,
  { first, littleEndian, sizeFirst, trailer, name }: ChunkLayout,
): Uint8Array | null {
  const view = viewOf(bytes);
  for (let at = first; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + (sizeFirst ? 0 : 4), littleEndian);
    if (textAt(bytes, at + (sizeFirst ? 4 : 0), 4) === name) return bytes.subarray(at + 8, at + 8 + size);
    // RIFF chunks begin at even places.
    at += 8 + size + trailer + (sizeFirst ? 0 : size % 2);
  }
  return null;
}

function readTag(tiff: Uint8Array): Orientation {
  const mark = textAt(tiff, 0, 2);
  if (tiff.length < 8 || (mark !== 'II' && mark !== 'MM')) return 1;
  const littleEndian = mark === 'II';
  const view = viewOf(tiff);
  if (view.getUint16(2, littleEndian) !== classicTiff) return 1;
  const directory = view.getUint32(4, littleEndian);
  if (directory + 2 > tiff.length) return 1;
  const entries = view.getUint16(directory, littleEndian);
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + 12 * entry;
    if (at + 12 > tiff.length) return 1;
    if (view.getUint16(at, littleEndian) !== orientationTag) continue;
    const value = view.getUint16(at + 8, littleEndian);
    const sensible = view.getUint16(at + 2, littleEndian) === shortType && value >= 1 && value <= 8;
    return sensible ? (value as Orientation) : 1;
  }
  return 1;
}

function textAt(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
