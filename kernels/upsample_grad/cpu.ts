// AssemblyScript: gradient of nearest-neighbour upsampling. Threads share the rows of dx over all planes.

import { at, integer, pointer, shareStart } from '../shared/vectors';

export function upsample_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const dx = pointer(args, 1);
  const width = integer(args, 4);
  const factor = integer(args, 5);
  const rows = integer(args, 2) * integer(args, 3);
  const wide = width * factor;
  const end = shareStart(rows, 1, thread + 1, threads);
  for (let row = shareStart(rows, 1, thread, threads); row < end; row++) {
    for (let j = 0; j < width; j++) {
      let total: f32 = 0;
      for (let i = 0; i < factor; i++) {
        const source = at(dy, (row * factor + i) * wide + j * factor);
        for (let k = 0; k < factor; k++) total += load<f32>(at(source, k));
      }
      store<f32>(at(dx, row * width + j), total);
    }
  }
}
