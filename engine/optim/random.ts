// Random numbers from counters: number i of a stream depends on nothing but the seed, the stream and i, so every device
// and every resumed run draws the same ones. Threefry-2x32 (Salmon et al., SC 2011) is the source; shuffles, which run
// on the host alone, use a small generator (sfc32, Doty-Humphrey's PractRand) keyed from it because it is much faster.

import { threefry2x32, threefry2x32Into } from '../../kernels/threefry.ts';

/** Numbers of the streams a run draws from. Dropout layers use 1000 + their position. */
export const streams = {
  initializer: 1,
  shuffle: 2,
  split: 3,
  generate: 4,
  dropout: 1000,
  augmentation: 2000,
  mixup: 2001,
  /** The order of batches, of each window the next. */
  buckets: 1_000_000,
} as const;

const unit = (word: number): number => ((word >>> 8) + 0.5) * 2 ** -24;

/** Uniform numbers in (0, 1), 24 bits each. */
export function fillUniform(target: Float32Array, seed: number, stream: number, low: number, high: number): void {
  const words = new Uint32Array(2);
  for (let i = 0; i < target.length; i += 2) {
    threefry2x32Into(words, 0, seed, stream, i >>> 1, 0);
    target[i] = low + (high - low) * unit(words[0]);
    if (i + 1 < target.length) target[i + 1] = low + (high - low) * unit(words[1]);
  }
}

/** Normal numbers by Box and Muller (1958). */
export function fillNormal(target: Float32Array, seed: number, stream: number, deviation: number): void {
  const words = new Uint32Array(2);
  for (let i = 0; i < target.length; i += 2) {
    threefry2x32Into(words, 0, seed, stream, i >>> 1, 0);
    const radius = deviation * Math.sqrt(-2 * Math.log(unit(words[0])));
    const angle = 2 * Math.PI * unit(words[1]);
    target[i] = radius * Math.cos(angle);
    if (i + 1 < target.length) target[i + 1] = radius * Math.sin(angle);
  }
}

/** A number from Beta(shape, shape), shape up to about 2, by rejection (Jöhnk 1964). */
export function drawBeta(shape: number, seed: number, stream: number, counter: number): number {
  for (let attempt = 0; ; attempt++) {
    const [a, b] = threefry2x32(seed, stream, attempt, counter).map((word) => unit(word) ** (1 / shape));
    if (a + b > 0 && a + b <= 1) return a / (a + b);
  }
}

/** The four words that a sequential generator begins with (sfc32), as kernels take them. */
export function sequentialState(seed: number, stream: number, counter: number): Uint32Array {
  const [a, b] = threefry2x32(seed, stream, counter, 1);
  const state = Uint32Array.of(a, b, 1, counter);
  for (let i = 0; i < 12; i++) nextWord(state);
  return state;
}

function nextWord(state: Uint32Array): number {
  const [a, b, c, d] = state;
  const result = (a + b + d) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = c + (c << 3);
  state[2] = ((c << 21) | (c >>> 11)) + result;
  state[3] = d + 1;
  return result >>> 0;
}

/** A fast sequential generator of 32-bit words, for shuffles. */
export function sequentialWords(seed: number, stream: number, counter: number): () => number {
  let [a, b, c, d] = sequentialState(seed, stream, counter);
  const next = (): number => {
    const result = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + result) | 0;
    return result >>> 0;
  };
  return next;
}

/** Places of `most` of so many rows, drawn without replacement, in order; all of them where there are no more. */
export function drawnPlaces(rows: number, most: number, seed: number, stream: number): Uint32Array {
  const all = Uint32Array.from({ length: rows }, (_, row) => row);
  if (rows <= most) return all;
  const next = sequentialWords(seed, stream, rows);
  for (let i = 0; i < most; i++) {
    const j = i + Math.floor((next() / 2 ** 32) * (rows - i));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all.slice(0, most).sort();
}

/** Shuffles `items` in place (Fisher and Yates), the same way for the same seed and counter (the epoch, say). */
export function shuffle(items: Uint32Array, seed: number, stream: number, counter: number): void {
  const next = sequentialWords(seed, stream, counter);
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor((next() / 2 ** 32) * (i + 1));
    const item = items[i];
    items[i] = items[j];
    items[j] = item;
  }
}
