// AssemblyScript: tensors of up to six dimensions (kernels/sizes.ts). The sizes stand among the arguments of the call.

import { integer } from './vectors';

/** Elements of the first `count` dimensions, whose sizes are arguments from `first` on. */
export function elementsOf(args: usize, first: usize, count: i32): i32 {
  let product = 1;
  for (let k = 0; k < count; k++) product *= integer(args, first + <usize>k);
  return product;
}

/**
 * Where an operand that has the dimensions of `mask` lies at position `index` of the first `count` dimensions; `step` is the
 * distance of neighbours along the last of them that it has.
 */
export function maskedOffset(args: usize, first: usize, count: i32, mask: i32, index: i32, step: i32): i32 {
  let offset = 0;
  for (let k = count - 1; k >= 0; k--) {
    const size = integer(args, first + <usize>k);
    if (size == 1) continue;
    const own = index % size;
    index /= size;
    if ((mask & (1 << k)) == 0) continue;
    offset += own * step;
    step *= size;
  }
  return offset;
}

/** Where row `row` of an operand begins: the first five dimensions number the rows, the sixth is one piece. */
export function rowOffset(args: usize, first: usize, mask: i32, row: i32): i32 {
  return maskedOffset(args, first, 5, mask, row, (mask & 32) != 0 ? integer(args, first + 5) : 1);
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
