// AssemblyScript: gradient of softmax by rows; threads share the rows.

import { sumProduct } from '../shared/sums';
import { at, integer, pointer, read, shareStart, write } from '../shared/vectors';

export function softmax_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const y = pointer(args, 1);
  const dx = pointer(args, 2);
  const rows = integer(args, 3);
  const width = integer(args, 4);
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    const first = row * width;
    const sum = f32x4.splat(sumProduct(at(dy, first), at(y, first), width, 0));
    for (let j = 0; j < width; j += 4) {
      const lanes = width - j;
      const difference = f32x4.sub(read(dy, first + j, lanes), sum);
      write(dx, first + j, f32x4.mul(read(y, first + j, lanes), difference), lanes);
    }
  }
}
