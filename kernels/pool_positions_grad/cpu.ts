// AssemblyScript: threads share the rows of the batch.

import { endOfPooled, firstPooled } from '../shared/positions';
import { tokensOf } from '../shared/tokens';
import { at, copy, integer, pointer, scaleRow, shareStart } from '../shared/vectors';

export function pool_positions_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const lengths = pointer(args, 1);
  const dx = pointer(args, 2);
  const batch = integer(args, 3);
  const length = integer(args, 4);
  const width = integer(args, 5);
  const pool = integer(args, 6);
  const last = shareStart(batch, 1, thread + 1, threads);
  for (let i = shareStart(batch, 1, thread, threads); i < last; i++) {
    const tokens = tokensOf(lengths, i, length);
    const first = firstPooled(pool, tokens);
    const end = endOfPooled(pool, tokens);
    const target = at(dx, i * length * width);
    memory.fill(target, 0, (<usize>(length * width)) << 2);
    const row = at(target, first * width);
    copy(row, at(dy, i * width), width);
    if (end - first == 1) continue;
    scaleRow(row, width, 1 / <f32>(end - first));
    for (let t = first + 1; t < end; t++) copy(at(target, t * width), row, width);
  }
}
