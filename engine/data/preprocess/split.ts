// Which rows train, which validate, which test: decided by a hash of the seed and the row's number, so the same seed gives
// the same split on every machine, and stratified, so every class is shared out alike.

/** Split of a row: index into [train, validation, test], or `leftOut`. */
export const leftOut = 3;

/** 32 random bits for a counter under a seed: two rounds of MurmurHash3's finaliser (Appleby, public domain). */
export function randomBits(seed: number, counter: number): number {
  let bits = Math.imul(counter >>> 0, 0x9e3779b1) ^ scramble(seed >>> 0);
  bits = scramble(bits);
  return scramble(bits ^ Math.floor(counter / 2 ** 32) ^ 0x5bd1e995) >>> 0;
}

function scramble(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/**
 * Assigns each row to a split. `strata[row]` is the row's class, or −1 to leave it out. Each class is shared out by
 * `shares` (train, validation, test; sum 1) to the nearest row, rounding errors carried on to the next class so that the
 * totals are right as well; a class always has a row in the training split.
 */
export function assignSplits(
  strata: Int32Array,
  classes: number,
  shares: readonly [number, number, number],
  seed: number,
): Uint8Array {
  const splits = new Uint8Array(strata.length).fill(leftOut);
  const members = membersOf(strata, classes);
  let seen = 0;
  let train = 0;
  let validation = 0;
  for (const rows of members) {
    if (rows.length === 0) continue;
    shuffle(rows, seed);
    seen += rows.length;
    const forTrain = clamp(Math.round(seen * shares[0]) - train, 1, rows.length);
    const forValidation = clamp(Math.round(seen * shares[1]) - validation, 0, rows.length - forTrain);
    // Without a test share, what rounding leaves over trains.
    const extra = shares[2] === 0 ? rows.length - forTrain - forValidation : 0;
    for (let index = 0; index < rows.length; index++) {
      const split = index < forTrain + extra ? 0 : index < forTrain + extra + forValidation ? 1 : 2;
      splits[rows[index] as number] = split;
    }
    train += forTrain + extra;
    validation += forValidation;
  }
  return splits;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** The rows of each class, in order. */
export function membersOf(strata: Int32Array, classes: number): Uint32Array[] {
  const counts = new Uint32Array(classes);
  for (const stratum of strata) if (stratum >= 0) counts[stratum] = (counts[stratum] as number) + 1;
  const groups = [...counts].map((count) => new Uint32Array(count));
  const filled = new Uint32Array(classes);
  for (let row = 0; row < strata.length; row++) {
    const stratum = strata[row] as number;
    if (stratum < 0) continue;
    const at = filled[stratum] as number;
    (groups[stratum] as Uint32Array)[at] = row;
    filled[stratum] = at + 1;
  }
  return groups;
}

/** Orders rows by their random bits: hash and position share one float64, so that a plain numeric sort does it. */
export function shuffle(rows: Uint32Array, seed: number): void {
  const positionBits = Math.max(1, Math.ceil(Math.log2(rows.length + 1)));
  const positions = 2 ** positionBits;
  const coarser = 2 ** Math.max(0, 32 + positionBits - 53);
  const keys = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index++) {
    keys[index] = Math.floor(randomBits(seed, rows[index] as number) / coarser) * positions + index;
  }
  keys.sort();
  const ordered = keys.map((key) => rows[key % positions] as number);
  rows.set(ordered);
}
