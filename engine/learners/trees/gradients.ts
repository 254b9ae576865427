// Gradients and hessians of the rows on a grid: multiples of a power of two, so few bits each that any sum of them is exact in
// float64. So no order of the rows, no number of threads and no way of adding (a child as its parent minus its sibling) can
// change a bit of a tree.

/** Bits of a gradient. */
const gradientBits = 23;

/** Bits of a hessian: a sum of hessians and a count of rows fit one 64-bit word. */
export function hessianBits(rows: number): number {
  return Math.max(8, Math.min(23, 63 - 2 * countBits(rows)));
}

export const countBits = (rows: number): number => Math.ceil(Math.log2(rows + 1));

export interface Gradients {
  /** [rows] */
  readonly gradient: Float64Array;
  readonly hessian: Float64Array;
}

/** Rounds both to their grids in place, of the rows in `list` alone. */
export function toGrid({ gradient, hessian }: Gradients, list: Uint32Array): void {
  round(gradient, gradientBits, list);
  round(hessian, hessianBits(list.length), list);
}

function round(values: Float64Array, bits: number, list: Uint32Array): void {
  let largest = 0;
  for (let i = 0; i < list.length; i++) {
    const size = Math.abs(values[list[i]]);
    if (size > largest) largest = size;
  }
  if (largest === 0) return;
  const step = 2 ** (Math.ceil(Math.log2(largest)) - bits);
  // 1.5 · 2⁵² steps: what is added to it is rounded to whole steps, ties to even.
  const shift = 1.5 * 2 ** 52 * step;
  for (let i = 0; i < list.length; i++) values[list[i]] = values[list[i]] + shift - shift;
}
