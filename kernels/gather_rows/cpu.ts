// AssemblyScript: copies the rows of a step's batch; threads share the rows of the batch.

import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function gather_rows(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const batchX = pointer(args, 3);
  const batchY = pointer(args, 4);
  const width = integer(args, 6);
  const targets = integer(args, 7);
  const batch = integer(args, 8);
  const indices = at(pointer(args, 2), step * batch);
  const hasTargets = y != 0 && batchY != 0;
  const end = shareStart(batch, 1, thread + 1, threads);
  for (let i = shareStart(batch, 1, thread, threads); i < end; i++) {
    const row = load<u32>(at(indices, i));
    // Whole datasets stand behind x: byte offsets need all 32 bits.
    copy(at(batchX, i * width), x + ((<usize>row * <usize>width) << 2), width);
    if (hasTargets) copy(at(batchY, i * targets), y + ((<usize>row * <usize>targets) << 2), targets);
  }
}
