// AssemblyScript: dropout of whole planes. Threads share the planes.

import { firstWords, secondWords, threefry } from '../shared/threefry';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

export function dropout_channels(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const counter = load<i32>(at(pointer(args, 1), step));
  const y = pointer(args, 2);
  const planes = integer(args, 3);
  const inner = integer(args, 4);
  const rate = real(args, 5);
  const seed = integer(args, 6);
  const stream = integer(args, 7);
  const end = shareStart(planes, 1, thread + 1, threads);
  for (let plane = shareStart(planes, 1, thread, threads); plane < end; plane++) {
    threefry(seed, stream, i32x4.splat(plane >> 1), counter);
    const word = i32x4.extract_lane((plane & 1) == 0 ? firstWords : secondWords, 0);
    const kept = <f32>(word >>> 8) * <f32>5.9604644775390625e-8 >= rate;
    const scale = f32x4.splat(kept ? 1 / (1 - rate) : 0);
    for (let i = 0; i < inner; i += 4) {
      const element = plane * inner + i;
      write(y, element, f32x4.mul(read(x, element, inner - i), scale), inner - i);
    }
  }
}
