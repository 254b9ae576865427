// The segments of a JPEG file: where its EXIF data are, and whether the picture goes on to its end.

import { UnreadablePicture } from './picture.ts';

/**
 * Decoders fill what is missing of a JPEG with grey. Its end-of-image marker stands behind its scans and nowhere within
 * them (ITU T.81, B.1.1.2); markers of a preview lie before the first scan.
 * @throws UnreadablePicture if it is not there.
 */
export function requireJpegEnd(bytes: Uint8Array): void {
  const scan = findJpegScan(bytes);
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (scan === null || view.indexOf(endOfImage, scan) < 0) {
    throw new UnreadablePicture('it is broken: cut off, the end of the picture is missing');
  }
}

const endOfImage = Buffer.from([0xff, 0xd9]);

/** Where the first scan of a JPEG begins. */
function findJpegScan(bytes: Uint8Array): number | null {
  for (const { marker, start } of jpegSegments(bytes)) if (marker === 0xda) return start;
  return null;
}

/** The segments of a JPEG up to its first scan; `start` and `end` enclose a segment's content. */
export function* jpegSegments(bytes: Uint8Array): Generator<{ marker: number; start: number; end: number }> {
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return;
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const length = ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
    yield { marker, start: at + 4, end: at + 2 + length };
    if (marker === 0xda) return;
    at += 2 + length;
  }
}
