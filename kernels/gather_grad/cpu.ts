// AssemblyScript: gradient of gather. Each thread owns some slices of dx, clears them, and goes through all numbers for the slices
// of dy that belong there: no two threads add to one slice, and the order is that of the numbers.

import { addRow } from '../shared/columns';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function gather_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const indices = pointer(args, 1);
  const dx = pointer(args, 2);
  const outer = integer(args, 3);
  const size = integer(args, 4);
  const inner = integer(args, 5);
  const count = integer(args, 6);
  const start = shareStart(size, 1, thread, threads);
  const end = shareStart(size, 1, thread + 1, threads);
  if (start == end) return;
  for (let o = 0; o < outer; o++) {
    memory.fill(at(dx, (o * size + start) * inner), 0, (<usize>((end - start) * inner)) << 2);
  }
  for (let i = 0; i < count; i++) {
    const index = <i32>min(load<u32>(at(indices, i)), <u32>(size - 1));
    if (index < start || index >= end) continue;
    for (let o = 0; o < outer; o++) {
      addRow(at(dx, (o * size + index) * inner), at(dy, (o * count + i) * inner), inner);
    }
  }
}
