// AssemblyScript: nearest-neighbour upsampling. Threads share the rows of x over all planes.

import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function upsample(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const width = integer(args, 4);
  const factor = integer(args, 5);
  const rows = integer(args, 2) * integer(args, 3);
  const wide = width * factor;
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    const source = at(x, row * width);
    const target = at(y, row * factor * wide);
    for (let j = 0; j < width; j++) {
      const value = load<f32>(at(source, j));
      for (let i = 0; i < factor; i++) store<f32>(at(target, j * factor + i), value);
    }
    for (let i = 1; i < factor; i++) copy(at(target, i * wide), target, wide);
  }
}
