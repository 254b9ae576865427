// Counter-based random numbers in WGSL: the same integers as on the CPU, so that masks are the same on every device.

import { float } from './gpu-wgsl.ts';

/**
 * `fn threefry(counter0, counter1) -> vec2<u32>`: Threefry-2x32 with 20 rounds, see threefry.ts. The rounds are unrolled: their
 * key words are then constants.
 */
export function threefryFunction(seed: number, stream: number): string {
  const rotations = [13, 15, 26, 6, 17, 29, 16, 24];
  const keys = [seed, stream, 0x1bd11bda ^ seed ^ stream].map((key) => `${key >>> 0}u`);
  const rounds = Array.from({ length: 20 }, (_, round) => {
    const rotation = rotations[round % 8];
    const mix = `a += b; b = ((b << ${rotation}u) | (b >> ${32 - rotation}u)) ^ a;`;
    if (round % 4 !== 3) return `  ${mix}`;
    const injection = (round + 1) / 4;
    return `  ${mix} a += ${keys[injection % 3]}; b += ${keys[(injection + 1) % 3]} + ${injection}u;`;
  });
  return `fn threefry(counter0: u32, counter1: u32) -> vec2<u32> {
  var a = counter0 + ${keys[0]};
  var b = counter1 + ${keys[1]};
${rounds.join('\n')}
  return vec2<u32>(a, b);
}`;
}

/** `fn keep(value, word, rate) -> f32`: dropout of one value by a random word. */
export const keepFunction = `fn keep(value: f32, word: u32, rate: f32) -> f32 {
  let draw = f32(word >> 8u) * ${float(2 ** -24)};
  return select(0f, value / (1f - rate), draw >= rate);
}`;
