// Threefry-2x32 with 20 rounds: random numbers as a pure function of a key and a counter, so that dropout masks and
// initial weights are the same on every device, in any order, and after a resume.
// J. K. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

/** Rotations of the rounds, repeated every eight. */
const rotations = [13, 15, 26, 6, 17, 29, 16, 24] as const;
/** Constant of the Skein hash, which makes the third key word depend on the other two. */
const parity = 0x1bd11bda;

/** Two random 32-bit words for a key and a counter of two 32-bit words each; all are taken modulo 2³². */
export function threefry2x32(key0: number, key1: number, counter0: number, counter1: number): [number, number] {
  const words = new Uint32Array(2);
  threefry2x32Into(words, 0, key0, key1, counter0, counter1);
  return [words[0], words[1]];
}

/** As `threefry2x32`, writing the two words to `words[offset]` and `words[offset + 1]`; allocates nothing. */
export function threefry2x32Into(
  words: Uint32Array,
  offset: number,
  key0: number,
  key1: number,
  counter0: number,
  counter1: number,
): void {
  const key2 = parity ^ key0 ^ key1;
  let x0 = (counter0 + key0) | 0;
  let x1 = (counter1 + key1) | 0;
  for (let round = 0; round < 20; round++) {
    const rotation = rotations[round & 7];
    x0 = (x0 + x1) | 0;
    x1 = ((x1 << rotation) | (x1 >>> (32 - rotation))) ^ x0;
    if ((round & 3) === 3) {
      const injection = (round + 1) >> 2;
      x0 = (x0 + keyWord(injection, key0, key1, key2)) | 0;
      x1 = (x1 + keyWord(injection + 1, key0, key1, key2) + injection) | 0;
    }
  }
  words[offset] = x0;
  words[offset + 1] = x1;
}

function keyWord(index: number, key0: number, key1: number, key2: number): number {
  const position = index % 3;
  return position === 0 ? key0 : position === 1 ? key1 : key2;
}
