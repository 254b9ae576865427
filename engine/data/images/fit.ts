// The geometry of fitting a picture of any size into the working size.

import type { PictureShape } from './picture.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends Size {
  readonly x: number;
  readonly y: number;
}

/** Times a picture may be longer than its shape before what will be cut off anyway goes first. */
const longest = 4;

/**
 * Which part of a picture is scaled, and to what size. The scaled part is then put in the middle of the working size:
 * larger, it is cut (`crop`); smaller, it is framed (`pad`).
 */
export function fitRectangles(size: Size, { width, height, fit }: PictureShape): { source: Rectangle; scaled: Size } {
  const whole = { x: 0, y: 0, width: size.width, height: size.height };
  if (fit === 'stretch') return { source: whole, scaled: { width, height } };
  const source = fit === 'crop' ? shortened(size, width / height) : whole;
  const [across, down] = [width / source.width, height / source.height];
  const scale = fit === 'crop' ? Math.max(across, down) : Math.min(across, down);
  return {
    source,
    scaled: {
      width: Math.max(1, Math.round(source.width * scale)),
      height: Math.max(1, Math.round(source.height * scale)),
    },
  };
}

/** The middle of a picture that is far longer than `aspect` (width / height), so that scaling it stays small. */
function shortened({ width, height }: Size, aspect: number): Rectangle {
  const wide = Math.min(width, Math.ceil(height * aspect * longest));
  const high = Math.min(height, Math.ceil((width / aspect) * longest));
  return { x: (width - wide) >> 1, y: (height - high) >> 1, width: wide, height: high };
}

/** The pixels of a rectangle of a bitmap `width` pixels wide. */
export function cutRectangle(data: Uint8Array, width: number, channels: number, part: Rectangle): Uint8Array {
  if (part.x === 0 && part.y === 0 && part.width === width && part.width * part.height * channels === data.length) {
    return data;
  }
  const cut = new Uint8Array(part.width * part.height * channels);
  for (let y = 0; y < part.height; y++) {
    const start = ((part.y + y) * width + part.x) * channels;
    cut.set(data.subarray(start, start + part.width * channels), y * part.width * channels);
  }
  return cut;
}
