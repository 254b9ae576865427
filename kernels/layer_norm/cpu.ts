// AssemblyScript: layer normalisation; threads share the rows.

import { multiplyAdd } from '../shared/math';
import { sum, sumSquaredDifferences } from '../shared/sums';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

export function layer_norm(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const gamma = pointer(args, 1);
  const beta = pointer(args, 2);
  const y = pointer(args, 3);
  const mean = pointer(args, 4);
  const inverseDeviation = pointer(args, 5);
  const rows = integer(args, 6);
  const width = integer(args, 7);
  const epsilon = real(args, 8);
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    const values = at(x, row * width);
    const average = sum(values, width) / <f32>width;
    const scale = <f32>1 / sqrt<f32>(sumSquaredDifferences(values, width, average) / <f32>width + epsilon);
    store<f32>(at(mean, row), average);
    store<f32>(at(inverseDeviation, row), scale);
    for (let j = 0; j < width; j += 4) {
      const lanes = width - j;
      const normalised = f32x4.mul(f32x4.sub(read(values, j, lanes), f32x4.splat(average)), f32x4.splat(scale));
      write(y, row * width + j, multiplyAdd(normalised, read(gamma, j, lanes), read(beta, j, lanes)), lanes);
    }
  }
}
