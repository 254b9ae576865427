// AssemblyScript: group normalisation. Threads share the groups of all examples.

import { multiplyAdd } from '../shared/math';
import { sum, sumSquaredDifferences } from '../shared/sums';
import { at, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

export function group_norm(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const gamma = pointer(args, 1);
  const beta = pointer(args, 2);
  const y = pointer(args, 3);
  const mean = pointer(args, 4);
  const inverseDeviation = pointer(args, 5);
  const channels = integer(args, 7);
  const inner = integer(args, 8);
  const groups = integer(args, 9);
  const epsilon = real(args, 10);
  const width = channels / groups;
  const size = width * inner;
  const count = integer(args, 6) * groups;
  const end = shareStart(count, 1, thread + 1, threads);
  for (let group = shareStart(count, 1, thread, threads); group < end; group++) {
    const source = at(x, group * size);
    const average = sum(source, size) / <f32>size;
    const inverse = <f32>1 / sqrt<f32>(sumSquaredDifferences(source, size, average) / <f32>size + epsilon);
    store<f32>(at(mean, group), average);
    store<f32>(at(inverseDeviation, group), inverse);
    for (let j = 0; j < width; j++) {
      const channel = (group % groups) * width + j;
      const scale = f32x4.splat(inverse * load<f32>(at(gamma, channel)));
      const shift = v128.load32_splat(at(beta, channel));
      const first = group * size + j * inner;
      for (let i = 0; i < inner; i += 4) {
        const lanes = inner - i;
        const centred = f32x4.sub(read(x, first + i, lanes), f32x4.splat(average));
        write(y, first + i, multiplyAdd(centred, scale, shift), lanes);
      }
    }
  }
}
