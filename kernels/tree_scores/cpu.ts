// AssemblyScript: a tree's values for the rows of its leaves; threads share the list.

import { at64, BLOCK } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function tree_scores(args: usize, thread: i32, threads: i32, _step: i32): void {
  const list = pointer(args, 0);
  const ends = pointer(args, 1);
  const values = pointer(args, 2);
  const job = pointer(args, 3);
  const scores = at64(pointer(args, 4), load<i32>(job, 4));
  const outputs = integer(args, 6);
  const count = load<i32>(at(ends, load<i32>(job) - 1));
  const end = shareStart(count, BLOCK, thread + 1, threads);
  let i = shareStart(count, BLOCK, thread, threads);
  for (let leaf = 0; i < end; leaf++) {
    const value = load<f64>(at64(values, leaf));
    const stop = min(end, load<i32>(at(ends, leaf)));
    for (; i < stop; i++) {
      const place = at64(scores, load<i32>(at(list, i)) * outputs);
      store<f64>(place, load<f64>(place) + value);
    }
  }
}
