// AssemblyScript: threads share the windows of the batch.

import { tokensOf } from '../shared/tokens';
import { at, copy, integer, pointer, shareStart } from '../shared/vectors';

export function unfold(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const lengths = pointer(args, 1);
  const y = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const width = integer(args, 5);
  const taps = integer(args, 6);
  const before = integer(args, 7);
  const dilation = integer(args, 8);
  const last = shareStart(batch * length, 1, thread + 1, threads);
  for (let window = shareStart(batch * length, 1, thread, threads); window < last; window++) {
    const row = window / length;
    const tokens = tokensOf(lengths, row, length);
    const first = (window % length) - before;
    for (let k = 0; k < taps; k++) {
      const position = first + k * dilation;
      const target = at(y, (window * taps + k) * width);
      if (position >= 0 && position < tokens) copy(target, at(x, (row * length + position) * width), width);
      else memory.fill(target, 0, (<usize>width) << 2);
    }
  }
}
