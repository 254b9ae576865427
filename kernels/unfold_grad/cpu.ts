// AssemblyScript: threads share the positions of the batch; each adds up the windows it stands in.

import { addRow } from '../shared/columns';
import { tokensOf } from '../shared/tokens';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function unfold_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const lengths = pointer(args, 1);
  const dx = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const width = integer(args, 5);
  const taps = integer(args, 6);
  const before = integer(args, 7);
  const dilation = integer(args, 8);
  const last = shareStart(batch * length, 1, thread + 1, threads);
  for (let place = shareStart(batch * length, 1, thread, threads); place < last; place++) {
    const row = place / length;
    const position = place % length;
    const target = at(dx, place * width);
    memory.fill(target, 0, (<usize>width) << 2);
    if (position >= tokensOf(lengths, row, length)) continue;
    for (let k = 0; k < taps; k++) {
      const start = position + before - k * dilation;
      if (start < 0 || start >= length) continue;
      addRow(target, at(dy, ((row * length + start) * taps + k) * width), width);
    }
  }
}
