// AssemblyScript: sums of each channel's planes. Threads share the channels.

import { sum } from '../shared/sums';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function channel_sum(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const outer = integer(args, 2);
  const channels = integer(args, 3);
  const inner = integer(args, 4);
  const end = shareStart(channels, 1, thread + 1, threads);
  for (let channel = shareStart(channels, 1, thread, threads); channel < end; channel++) {
    let total: f32 = 0;
    for (let o = 0; o < outer; o++) total += sum(at(x, (o * channels + channel) * inner), inner);
    store<f32>(at(y, channel), total);
  }
}
