// How many different numbers a column has, found while its rows pass by: those whose hash falls into one of 2^k equal parts are
// kept, k such that they stay few (distinct sampling; Gibbons 2001). As long as all are kept the count is exact.

/** A number of different values. */
export interface Distinct {
  readonly distinct: number;
  readonly exact: boolean;
}

/** Numbers kept at most, and what is aimed at where the rows to come are known: the estimate is off by 0.6 % then. */
const most = 2 ** 16;
const aim = 3 * 2 ** 14;
/** Of fewer numbers nothing is told, unless they are all. */
const fewest = 2 ** 13.5;
/** Slots to begin with, as a power of two; there are always twice as many as numbers. */
const firstBits = 14;

export class DistinctSample {
  /** The numbers kept, by the bits of their halves; NaN = free. */
  #bits: number;
  #slots: Float64Array;
  #halves: Int32Array;
  #kept = 0;

  /** `rows`: how many there will be, if they are few. */
  constructor(rows = 2 ** (firstBits - 1)) {
    this.#bits = Math.min(firstBits, Math.ceil(Math.log2(2 * rows + 2)));
    this.#slots = new Float64Array(2 ** this.#bits).fill(NaN);
    this.#halves = new Int32Array(this.#slots.buffer);
  }

  #take(low: number, half: number): void {
    // 0 and −0 are one number.
    const high = low === 0 && half === negative ? 0 : half;
    const hash = hashOf(low, high);
    if ((hash & this.#mask) === 0 && !isMissing(high)) this.#keep(low, high, hash);
  }

  /** Bits of a hash that are 0. */
  #mask = 0;

  /** Takes the first `rows` values; NaN = missing. */
  add(values: Float64Array, rows: number): void {
    const words = new Int32Array(values.buffer, values.byteOffset, 2 * rows);
    for (let row = 0; row < rows; row++) this.#take(words[2 * row] as number, words[2 * row + 1] as number);
  }

  /** Bits of a hash that are 0 of all numbers kept: others need not be added. */
  get mask(): number {
    return this.#mask;
  }

  /** Keeps few enough that the sample need not be thinned again for `rows` rows like those so far, if nearly all differ. */
  expect(rows: number, soFar: number): void {
    if (this.#kept < soFar * 0.9) return;
    const mask = maskFor(rows);
    // Room for all of them at once: arrays that grow have the collector look at everything, again and again.
    const bits = Math.max(firstBits, Math.ceil(Math.log2((2 * rows) / (mask + 1))));
    if (mask > this.#mask || bits > this.#bits) this.#rebuild(mask, bits);
  }

  /** null: the numbers kept do not tell. */
  result(): Distinct | null {
    if (this.#mask > 0 && this.#kept < fewest) return null;
    return { distinct: this.#kept * (this.#mask + 1), exact: this.#mask === 0 };
  }

  #keep(low: number, high: number, hash: number): void {
    const halves = this.#halves;
    const last = this.#slots.length - 1;
    let slot = hash >>> (32 - this.#bits);
    while (!isMissing(halves[2 * slot + 1] as number)) {
      if (halves[2 * slot] === low && halves[2 * slot + 1] === high) return;
      slot = (slot + 1) & last;
    }
    halves[2 * slot] = low;
    halves[2 * slot + 1] = high;
    if (++this.#kept > most) this.#rebuild(2 * this.#mask + 1, this.#bits);
    else if (2 * this.#kept > last) this.#rebuild(this.#mask, this.#bits + 1);
  }

  #rebuild(mask: number, bits: number): void {
    const kept = this.#slots;
    this.#mask = mask;
    this.#bits = bits;
    this.#kept = 0;
    this.#slots = new Float64Array(2 ** bits).fill(NaN);
    this.#halves = new Int32Array(this.#slots.buffer);
    this.add(kept, kept.length);
  }
}

/** The mask of a sample of so many numbers, if nearly all of them differ. */
export function maskFor(rows: number): number {
  let parts = 1;
  while (rows / parts > (parts === 1 ? most : aim)) parts *= 2;
  return parts - 1;
}

/** The upper half of −0, of numbers that are none, and of all but the sign. */
const negative = -(2 ** 31);
const [beyond, size] = [0x7ff00000, 0x7fffffff];

function isMissing(high: number): boolean {
  return (high & size) > beyond;
}

/** Its upper bits choose a slot, its lower ones whether a number is kept. */
function hashOf(low: number, high: number): number {
  let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
