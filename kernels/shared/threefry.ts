// AssemblyScript twin of kernels/threefry.ts: threefry-2x32 with 20 rounds, for four counters at once.

const PARITY = 0x1bd11bda;

/** First and second words of the last call, of the four counters. A module's globals belong to one thread. */
export let firstWords: v128 = i32x4.splat(0);
export let secondWords: v128 = i32x4.splat(0);

/** Sets `firstWords` and `secondWords` for the counters (counter0 lanes, counter1). */
@inline
export function threefry(key0: i32, key1: i32, counter0: v128, counter1: i32): void {
  const k0 = i32x4.splat(key0);
  const k1 = i32x4.splat(key1);
  const k2 = i32x4.splat(PARITY ^ key0 ^ key1);
  firstWords = i32x4.add(counter0, k0);
  secondWords = i32x4.splat(counter1 + key1);
  rounds(13, 15, 26, 6, k1, k2, 1);
  rounds(17, 29, 16, 24, k2, k0, 2);
  rounds(13, 15, 26, 6, k0, k1, 3);
  rounds(17, 29, 16, 24, k1, k2, 4);
  rounds(13, 15, 26, 6, k2, k0, 5);
}

/** Four rounds and the injection of the key that follows them. */
@inline
function rounds(r0: i32, r1: i32, r2: i32, r3: i32, key0: v128, key1: v128, injection: i32): void {
  let a = firstWords;
  let b = secondWords;
  a = i32x4.add(a, b);
  b = v128.xor(rotate(b, r0), a);
  a = i32x4.add(a, b);
  b = v128.xor(rotate(b, r1), a);
  a = i32x4.add(a, b);
  b = v128.xor(rotate(b, r2), a);
  a = i32x4.add(a, b);
  b = v128.xor(rotate(b, r3), a);
  firstWords = i32x4.add(a, key0);
  secondWords = i32x4.add(i32x4.add(b, key1), i32x4.splat(injection));
}

@inline
function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}
