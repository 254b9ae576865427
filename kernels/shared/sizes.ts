// AssemblyScript: tensors of up to six dimensions (kernels/sizes.ts). The sizes stand among the arguments of the call.

import { integer } from './vectors';

/** Elements of the first `count` dimensions, whose sizes are arguments from `first` on. */
export function elementsOf(args: usize, first: usize, count: i32): i32 {
  let product = 1;
  for (let k = 0; k < count; k++) product *= integer(args, first + <usize>k);
  return product;
}

/**
 * Where the rows of an operand that has the dimensions of `mask` begin: its offset in elements at row `row` of the first five
 * dimensions, with the sixth in one piece.
 */
export function rowOffset(args: usize, first: usize, mask: i32, row: i32): i32 {
  let step = (mask & 32) != 0 ? integer(args, first + 5) : 1;
  let offset = 0;
  for (let k = 4; k >= 0; k--) {
    const size = integer(args, first + <usize>k);
    if (size == 1) continue;
    const index = row % size;
    row /= size;
    if ((mask & (1 << k)) == 0) continue;
    offset += index * step;
    step *= size;
  }
  return offset;
}

/** Σ index · stride over the first five dimensions of row `row`; the strides are arguments from `strides` on. */
export function stridedOffset(args: usize, first: usize, strides: usize, row: i32): i32 {
  let offset = 0;
  for (let k = 4; k >= 0; k--) {
    const size = integer(args, first + <usize>k);
    if (size == 1) continue;
    offset += (row % size) * integer(args, strides + <usize>k);
    row /= size;
  }
  return offset;
}
