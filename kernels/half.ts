// Numbers of 16 bits (IEEE 754 binary16) as whole numbers: one bit of sign, five of exponent, ten of fraction. Tensors of type f16
// hold them; the host sees their bits.

const largestExponent = 15;
const smallestExponent = -14;
const infinityBits = 0x7c00;
const notANumberBits = 0x7e00;

/** The bits of the nearest number of 16 bits, to even where two are as near; beyond 65504 infinity. */
export function toHalf(value: number): number {
  if (Number.isNaN(value)) return notANumberBits;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  // 65520 is half way between the largest number and what would be the next.
  if (size >= 65520) return sign | infinityBits;
  const exponent = Math.max(smallestExponent, size === 0 ? smallestExponent : exponentOf(size));
  const fraction = roundToEven(size * 2 ** (10 - exponent));
  // Below the smallest exponent there is no hidden bit; a fraction rounded up carries into the exponent by itself.
  return sign | (fraction + (fraction >= 1024 ? (exponent + largestExponent - 1) << 10 : 0));
}

/** `toHalf` of many: by the bits of float32, an order of magnitude faster. */
export function toHalves(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  const number = new Float32Array(1);
  const word = new Uint32Array(number.buffer);
  for (let i = 0; i < values.length; i++) {
    number[0] = values[i];
    const sign = (word[0] >>> 16) & 0x8000;
    const size = word[0] & 0x7fffffff;
    if (size > 0x7f800000) halves[i] = notANumberBits;
    // 65520
    else if (size >= 0x477ff000) halves[i] = sign | infinityBits;
    // 2⁻¹⁴: thirteen bits of the fraction go, and 112 of the exponent.
    else if (size >= 0x38800000) halves[i] = sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
    else {
      // The sum rounds to a multiple of 2⁻²⁴, which are the last bits of a number from 0.5 on.
      number[0] = Math.abs(values[i]) + 0.5;
      halves[i] = sign | (word[0] - 0x3f000000);
    }
  }
  return halves;
}

/** The number that these 16 bits stand for. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - largestExponent - 10);
}

/** ⌊log₂ x⌋, exact. */
function exponentOf(x: number): number {
  const estimate = Math.floor(Math.log2(x));
  if (2 ** estimate > x) return estimate - 1;
  return 2 ** (estimate + 1) <= x ? estimate + 1 : estimate;
}

function roundToEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
