// AssemblyScript: sum = keep·sum + share·x; threads share the elements.

import { multiplyAdd } from '../shared/math';
import { at, integer, LINE, pointer, read, shareStart, write } from '../shared/vectors';

export function accumulate(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const shares = pointer(args, 1);
  const sum = pointer(args, 2);
  const count = integer(args, 3);
  const kept = load<f32>(at(shares, 2 * step));
  const keep = f32x4.splat(kept);
  const share = f32x4.splat(load<f32>(at(shares, 2 * step + 1)));
  const end = shareStart(count, LINE, thread + 1, threads);
  for (let i = shareStart(count, LINE, thread, threads); i < end; i += 4) {
    const lanes = end - i;
    const part = f32x4.mul(share, read(x, i, lanes));
    // The old sum may be anything, also no number.
    write(sum, i, kept == 0 ? part : multiplyAdd(keep, read(sum, i, lanes), part), lanes);
  }
}
