// Sobol's sequence: points that fill the unit cube more evenly than random ones do. Directions by Joe and Kuo (SIAM J. Sci. Comput. 30,
// 2008, new-joe-kuo-6.21201), in Gray-code order (Antonov and Saleev 1979), scrambled by the seed after Owen as Burley does it by hashing
// (Journal of Computer Graphics Techniques 9(4), 2020).

import { sequentialWords } from '../optim/random.ts';

const bits = 32;
const stream = 4301;

/** Of each dimension after the first: the primitive polynomial, its highest and lowest coefficient included, and the first directions. */
const directions: readonly (readonly [polynomial: number, first: readonly number[]])[] = [
  [3, [1]],
  [7, [1, 3]],
  [11, [1, 3, 1]],
  [13, [1, 1, 1]],
  [19, [1, 1, 3, 3]],
  [25, [1, 3, 5, 13]],
  [37, [1, 1, 5, 5, 17]],
  [41, [1, 1, 5, 5, 5]],
  [47, [1, 1, 7, 11, 19]],
  [55, [1, 1, 5, 1, 1]],
  [59, [1, 1, 1, 3, 11]],
  [61, [1, 3, 5, 5, 31]],
  [67, [1, 3, 3, 9, 7, 49]],
  [91, [1, 1, 1, 15, 21, 21]],
  [97, [1, 3, 1, 13, 27, 49]],
  [103, [1, 1, 1, 15, 7, 5]],
  [109, [1, 3, 1, 15, 13, 25]],
  [115, [1, 1, 5, 5, 19, 61]],
  [131, [1, 3, 7, 11, 23, 15, 103]],
  [137, [1, 3, 7, 13, 13, 15, 69]],
  [143, [1, 1, 3, 13, 7, 35, 63]],
  [145, [1, 3, 5, 9, 1, 25, 53]],
  [157, [1, 3, 1, 13, 9, 35, 107]],
  [167, [1, 3, 1, 5, 27, 61, 31]],
  [171, [1, 1, 5, 11, 19, 41, 61]],
  [185, [1, 3, 5, 3, 3, 13, 69]],
  [191, [1, 1, 7, 13, 1, 19, 1]],
  [193, [1, 3, 7, 5, 13, 19, 59]],
  [203, [1, 1, 3, 9, 25, 29, 41]],
  [211, [1, 3, 5, 13, 23, 1, 55]],
  [213, [1, 3, 7, 3, 13, 59, 17]],
];

export const mostSobolDimensions = directions.length + 1;

/** The 32 directions of a dimension, from 0. */
function directionsOf(dimension: number): Uint32Array {
  const v = new Uint32Array(bits);
  if (dimension === 0) return v.map((_, i) => 2 ** (bits - 1 - i));
  const [polynomial, first] = directions[dimension - 1];
  const degree = first.length;
  for (let i = 0; i < bits; i++) {
    if (i < degree) {
      v[i] = first[i] * 2 ** (bits - 1 - i);
      continue;
    }
    v[i] = v[i - degree] ^ (v[i - degree] >>> degree);
    for (let k = 1; k < degree; k++) if ((polynomial >>> (degree - k)) & 1) v[i] ^= v[i - k];
  }
  return v;
}

const tables: Uint32Array[] = [];
const tableOf = (dimension: number): Uint32Array => (tables[dimension] ??= directionsOf(dimension));

/** The words of point `index`, from 0, not scrambled: x / 2³² is the place. */
function wordOf(index: number, dimension: number): number {
  const v = tableOf(dimension);
  let gray = (index ^ (index >>> 1)) >>> 0;
  let word = 0;
  for (let bit = 0; gray !== 0; bit++, gray >>>= 1) if (gray & 1) word ^= v[bit];
  return word >>> 0;
}

/** [D] of point `index`, from 0, as the definition has it: the first is the origin. */
export function sobolPoint(index: number, dimensions: number): Float64Array {
  return Float64Array.from({ length: dimensions }, (_, dimension) => wordOf(index, dimension) / 2 ** bits);
}

/** The same scrambled: every dyadic box keeps its share of the points, and no place is favoured. */
export function scrambledSobolPoint(index: number, dimensions: number, seed: number): Float64Array {
  return Float64Array.from({ length: dimensions }, (_, dimension) => {
    const key = sequentialWords(seed, stream, dimension)();
    return (scrambled(wordOf(index, dimension), key) + 0.5) / 2 ** bits;
  });
}

/** Laine and Karras's hash lets each bit depend on those below it alone; between two reversals, on those above. */
function scrambled(word: number, key: number): number {
  let x = reversed(word);
  x = (x + key) | 0;
  x ^= Math.imul(x, 0x6c50b47c);
  x ^= Math.imul(x, 0xb82f1e52);
  x ^= Math.imul(x, 0xc7afe638);
  x ^= Math.imul(x, 0x8d22f6e6);
  return reversed(x);
}

function reversed(word: number): number {
  let x = word;
  x = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  x = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8);
  return ((x >>> 16) | (x << 16)) >>> 0;
}
