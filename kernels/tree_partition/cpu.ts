// AssemblyScript: rows by the side they go to, block by block; threads share the blocks.

import { scratch } from '../shared/scratch';
import { BLOCK, blocksOf } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function tree_partition(args: usize, thread: i32, threads: i32, _step: i32): void {
  const goesLeft = pointer(args, 2);
  const list = pointer(args, 1);
  const job = pointer(args, 3);
  const spare = pointer(args, 4);
  const counts = pointer(args, 5);
  const width = <usize>integer(args, 7);
  const bins = pointer(args, 0) + load<u32>(job, 8);
  const from = load<i32>(job);
  const to = load<i32>(job, 4);
  const blocks = blocksOf(to - from);
  const last = shareStart(blocks, 1, thread + 1, threads);
  for (let block = shareStart(blocks, 1, thread, threads); block < last; block++) {
    const start = from + block * BLOCK;
    const end = at(list, min(to, start + BLOCK));
    let left = at(spare, start);
    let right = scratch;
    for (let place = at(list, start); place < end; place += 4) {
      const row = load<u32>(place);
      // Both are written, one of them counts: no branch to be guessed.
      const goes = <usize>load<u8>(goesLeft + load<u8>(bins + <usize>row * width));
      store<u32>(left, row);
      store<u32>(right, row);
      left += goes << 2;
      right += (1 - goes) << 2;
    }
    memory.copy(left, scratch, right - scratch);
    store<u32>(at(counts, block), <u32>((left - at(spare, start)) >> 2));
  }
}
