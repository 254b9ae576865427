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
