// AssemblyScript: y = f(x).

import { activateRange } from '../shared/activate_range';
import { integer, LINE, pointer, real, shareStart } from '../shared/vectors';

export function activation(args: usize, thread: i32, threads: i32, step: i32): void {
  const count = integer(args, 2);
  const start = shareStart(count, LINE, thread, threads);
  const end = shareStart(count, LINE, thread + 1, threads);
  activateRange(integer(args, 3), pointer(args, 0), pointer(args, 1), f32x4.splat(real(args, 4)), start, end);
}
