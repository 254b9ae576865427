// AssemblyScript: sorted blocks put together; threads share the blocks.

import { BLOCK, blocksOf } from '../shared/tree_math';
import { at, pointer, shareStart } from '../shared/vectors';

export function tree_move(args: usize, thread: i32, threads: i32, _step: i32): void {
  const spare = pointer(args, 0);
  const counts = pointer(args, 1);
  const job = pointer(args, 2);
  const list = pointer(args, 3);
  const from = load<i32>(job);
  const to = load<i32>(job, 4);
  const blocks = blocksOf(to - from);
  const first = shareStart(blocks, 1, thread, threads);
  const last = shareStart(blocks, 1, thread + 1, threads);
  let left = from;
  let right = load<i32>(job, 12);
  for (let block = 0; block < last; block++) {
    const start = from + block * BLOCK;
    const count = min(BLOCK, to - start);
    const lefts = load<i32>(at(counts, block));
    if (block >= first) {
      memory.copy(at(list, left), at(spare, start), (<usize>lefts) << 2);
      memory.copy(at(list, right), at(spare, start + lefts), (<usize>(count - lefts)) << 2);
    }
    left += lefts;
    right += count - lefts;
  }
}
