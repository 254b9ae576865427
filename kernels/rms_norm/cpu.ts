// AssemblyScript: root mean square normalisation; threads share the rows.

import { sumSquaredDifferences } from '../shared/sums';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

export function rms_norm(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const gamma = pointer(args, 1);
  const y = pointer(args, 2);
  const inverse = pointer(args, 3);
  const rows = integer(args, 4);
  const width = integer(args, 5);
  const epsilon = real(args, 6);
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    const values = at(x, row * width);
    const scale = <f32>1 / sqrt<f32>(sumSquaredDifferences(values, width, 0) / <f32>width + epsilon);
    store<f32>(at(inverse, row), scale);
    for (let j = 0; j < width; j += 4) {
      const lanes = width - j;
      const normalised = f32x4.mul(read(values, j, lanes), f32x4.splat(scale));
      write(y, row * width + j, f32x4.mul(normalised, read(gamma, j, lanes)), lanes);
    }
  }
}
