// The random numbers of augmentation. Image i of a step takes word k & 1 of threefry2x32(key (seed, stream), counter
// (8·i + (k >> 1), counters[step])) as its k-th draw:
// 0 mirrored if the word's highest bit is set; 1, 2 shift of columns and rows, whole numbers from −crop to crop; 3 angle from
// −rotation to rotation (radians); 4 zoom from 1 − zoom to 1 + zoom; 5, 6, 7 factors of brightness, contrast and saturation
// from 1 − limit to 1 + limit; 8, 9 column and row of the centre of the covered square.
//
// Output pixel (row r, column c) shows, with u = ±(c − (width − 1)/2) mirrored or not and v = r − (height − 1)/2, the place
// ((u·cos + v·sin)/zoom + (width − 1)/2 + columns, (v·cos − u·sin)/zoom + (height − 1)/2 + rows) of the image, interpolated
// between its four neighbours; what lies beyond the border has the channel's mean. Then, with pixels in 0 … 1: brightness
// multiplies, contrast stretches from the channel's mean, saturation from the pixel's grey (0.299, 0.587, 0.114; three channels
// only), the result is held within 0 … 1 and normalised. Pixels in the covered square become 0, the mean.

import { threefry2x32 } from './threefry.ts';

/** The limits of each change: the augmentation parameters of gather_images. */
export interface AugmentationLimits {
  readonly height: number;
  readonly width: number;
  readonly seed: number;
  readonly stream: number;
  readonly flip: number;
  readonly crop: number;
  readonly rotation: number;
  readonly zoom: number;
  readonly brightness: number;
  readonly contrast: number;
  readonly saturation: number;
  readonly cutout: number;
}

/** How one image is changed. */
export interface Draw {
  readonly mirrored: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly cos: number;
  readonly sin: number;
  readonly zoom: number;
  readonly brightness: number;
  readonly contrast: number;
  readonly saturation: number;
  /** First column and row of the covered square. */
  readonly coverLeft: number;
  readonly coverTop: number;
}

/** Image `index` of a step whose counter is `counter`. */
export function drawImage(p: AugmentationLimits, index: number, counter: number): Draw {
  const word = (k: number): number => threefry2x32(p.seed, p.stream, 8 * index + (k >> 1), counter)[k & 1];
  /** A whole number from 0 to limit − 1. */
  const whole = (k: number, limit: number): number => Math.floor(((word(k) >>> 16) * limit) / 65536);
  /** A number from −1 to 1. */
  const sided = (k: number): number => 2 * ((word(k) >>> 8) * 2 ** -24) - 1;
  const angle = sided(3) * p.rotation;
  const square = angle * angle;
  return {
    mirrored: p.flip !== 0 && word(0) >>> 31 === 1,
    columns: p.crop > 0 ? whole(1, 2 * p.crop + 1) - p.crop : 0,
    rows: p.crop > 0 ? whole(2, 2 * p.crop + 1) - p.crop : 0,
    // Taylor series: within 3e-7 up to 45 degrees, the same on every device.
    cos: 1 - square * (1 / 2 - square * (1 / 24 - square * (1 / 720 - square / 40320))),
    sin: angle * (1 - square * (1 / 6 - square * (1 / 120 - square / 5040))),
    zoom: 1 + sided(4) * p.zoom,
    brightness: 1 + sided(5) * p.brightness,
    contrast: 1 + sided(6) * p.contrast,
    saturation: 1 + sided(7) * p.saturation,
    coverLeft: whole(8, p.width) - (p.cutout >> 1),
    coverTop: whole(9, p.height) - (p.cutout >> 1),
  };
}
