// Gradients and hessians of the rows stand on a grid: multiples of a power of two, so few bits each that sums of them are whole numbers
// of 64 bits (kernels/tree_grid). So no order of the rows, no number of threads and no way of adding (a child as its parent minus its
// sibling) can change a bit of a tree.

/** Bits of a gradient. */
export const gradientBits = 23;

/** Bits of a hessian: a sum of hessians and a count of rows fit one 64-bit word. */
export function hessianBits(rows: number): number {
  return Math.max(8, Math.min(23, 63 - 2 * countBits(rows)));
}

export const countBits = (rows: number): number => Math.ceil(Math.log2(rows + 1));
