// Pictures that are the same, and pictures that look the same: scaled, compressed anew or a shade brighter. A picture that
// trains and tests makes results look better than they are; one under two classes teaches nonsense.

import type { PictureMeasures } from './picture.ts';
import type { PixelReader, Twins } from './stored.ts';

/** Bits two difference hashes may differ in. With four bands of 16 bits, one band is then equal. */
const mostBits = 3;
const bands = 4;
/** Pictures with an equal band; more means that the band says nothing, as the sky of landscapes or the edge of digits. */
const mostInBucket = 256;
/** Set bits of a hash that tells pictures apart: an even surface has next to none. */
const fewestBits = 6;
/** Least correlation of the values of two pictures that look the same. */
const leastCorrelation = 0.98;
/** Pairs that are compared value by value. */
const mostPairs = 20_000;

/** Finds the pictures that occur more than once. `reader` reads the pictures measured. */
export async function findTwins(
  measures: readonly Pick<PictureMeasures, 'hash' | 'look'>[],
  reader: PixelReader,
  throwIfCancelled: () => void,
): Promise<Twins> {
  const same = groupBy(measures.map(({ hash }) => hash));
  const copies = new Set(same.flatMap((group) => group.slice(1)));
  const pairs = candidatePairs(measures, copies);
  const alike: [number, number][] = [];
  for (const [first, second] of pairs) {
    throwIfCancelled();
    const pixels = await reader.read(Uint32Array.of(first, second));
    if (correlation(pixels.subarray(0, reader.width), pixels.subarray(reader.width)) >= leastCorrelation) {
      alike.push([first, second]);
    }
  }
  return { same, alike: joinPairs(alike) };
}

/** Positions with equal keys, where there are several. */
function groupBy(keys: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  keys.forEach((key, position) => {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [position]);
    else group.push(position);
  });
  return [...groups.values()].filter((group) => group.length > 1);
}

/** Pairs of pictures whose difference hashes are close; of copies, only the first counts. */
function candidatePairs(
  measures: readonly Pick<PictureMeasures, 'look'>[],
  copies: ReadonlySet<number>,
): (readonly [number, number])[] {
  const buckets = new Map<number, number[]>();
  measures.forEach(({ look }, position) => {
    const bits = countBits(look[0]) + countBits(look[1]);
    if (copies.has(position) || bits < fewestBits || bits > 64 - fewestBits) return;
    for (let band = 0; band < bands; band++) {
      const key = band * 2 ** 16 + bandOf(look, band);
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, [position]);
      else bucket.push(position);
    }
  });
  const pairs = new Map<number, readonly [number, number]>();
  for (const bucket of buckets.values()) {
    if (bucket.length > mostInBucket) continue;
    for (const [index, first] of bucket.entries()) {
      for (const second of bucket.slice(index + 1)) {
        if (pairs.size === mostPairs) return [...pairs.values()];
        if (distance(measures, first, second) <= mostBits) pairs.set(first * measures.length + second, [first, second]);
      }
    }
  }
  return [...pairs.values()];
}

function bandOf([low, high]: readonly [number, number], band: number): number {
  return ((band < 2 ? low : high) >>> (16 * (band % 2))) & 0xffff;
}

function distance(measures: readonly Pick<PictureMeasures, 'look'>[], first: number, second: number): number {
  const [a, b] = [measures[first]?.look ?? [0, 0], measures[second]?.look ?? [0, 0]];
  return countBits(a[0] ^ b[0]) + countBits(a[1] ^ b[1]);
}

function countBits(word: number): number {
  let bits = 0;
  for (let rest = word >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) bits++;
  return bits;
}

/** Pearson's correlation of the values of two pictures. */
function correlation(first: Uint8Array, second: Uint8Array): number {
  const count = first.length;
  let [sumA, sumB, squareA, squareB, product] = [0, 0, 0, 0, 0];
  for (let at = 0; at < count; at++) {
    const a = first[at] as number;
    const b = second[at] as number;
    sumA += a;
    sumB += b;
    squareA += a * a;
    squareB += b * b;
    product += a * b;
  }
  const spread = Math.sqrt((squareA * count - sumA * sumA) * (squareB * count - sumB * sumB));
  return spread === 0 ? 0 : (product * count - sumA * sumB) / spread;
}

/** Pairs that hang together as groups, ascending. */
function joinPairs(pairs: readonly (readonly [number, number])[]): number[][] {
  const groupOf = new Map<number, number[]>();
  for (const [first, second] of pairs) {
    const joined = groupOf.get(first) ?? [first];
    const other = groupOf.get(second) ?? [second];
    if (joined === other) continue;
    joined.push(...other);
    for (const position of joined) groupOf.set(position, joined);
  }
  return [...new Set(groupOf.values())].map((group) => group.sort((a, b) => a - b));
}
