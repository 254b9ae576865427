// AssemblyScript: batch normalisation with running statistics; threads share the rows of a table, or the planes
// (outer × channels) of images.

import { multiplyAdd } from '../shared/math';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

export function batch_norm_inference(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const gamma = pointer(args, 1);
  const beta = pointer(args, 2);
  const mean = pointer(args, 3);
  const variance = pointer(args, 4);
  const y = pointer(args, 5);
  const outer = integer(args, 6);
  const channels = integer(args, 7);
  const inner = integer(args, 8);
  const epsilon = f32x4.splat(real(args, 9));
  if (inner == 1) {
    const end = shareStart(outer, 1, thread + 1, threads);
    for (let row = shareStart(outer, 1, thread, threads); row < end; row++) {
      for (let j = 0; j < channels; j += 4) {
        const lanes = channels - j;
        const scale = f32x4.div(read(gamma, j, lanes), f32x4.sqrt(f32x4.add(read(variance, j, lanes), epsilon)));
        const i = row * channels + j;
        const centred = f32x4.sub(read(x, i, lanes), read(mean, j, lanes));
        write(y, i, multiplyAdd(centred, scale, read(beta, j, lanes)), lanes);
      }
    }
    return;
  }
  const end = shareStart(outer * channels, 1, thread + 1, threads);
  for (let plane = shareStart(outer * channels, 1, thread, threads); plane < end; plane++) {
    const channel = plane % channels;
    const deviation = f32x4.sqrt(f32x4.add(v128.load32_splat(at(variance, channel)), epsilon));
    const scale = f32x4.div(v128.load32_splat(at(gamma, channel)), deviation);
    const average = v128.load32_splat(at(mean, channel));
    const shift = v128.load32_splat(at(beta, channel));
    const start = plane * inner;
    for (let i = 0; i < inner; i += 4) {
      const centred = f32x4.sub(read(x, start + i, inner - i), average);
      write(y, start + i, multiplyAdd(centred, scale, shift), inner - i);
    }
  }
}
