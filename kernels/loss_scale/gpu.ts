// loss_scale: one thread, a handful of numbers. Whether a sum is finite its bits say: shaders may assume that all numbers are.

import type { GpuKernel } from '../gpu-contract.ts';
import { float } from '../gpu-wgsl.ts';
import { largestScale, smallestScale } from './kernel.ts';

export const gpu: GpuKernel = {
  passes: ({ chunks, beta1, beta2, interval }) => [
    {
      label: 'loss_scale',
      reads: { partials: 'f32' },
      writes: { scale: 'f32', scaling: 'f32' },
      code: `fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }
@compute @workgroup_size(1)
fn main() {
  var sum = 0f;
  var finite = true;
  for (var i = 0u; i < ${chunks}u; i++) {
    finite = finite && is_finite(partials[i]);
    sum += partials[i];
  }
  let used = scale[0];
  if (!(finite && is_finite(sum)) && used > ${float(smallestScale)}) {
    scale[0] = used * 0.5f;
    scaling[0] = 0f;
    scaling[1] += 1f;
    scaling[2] = 0f;
    return;
  }
  scaling[0] += 1f;
  scaling[2] = 1f / used;
  scaling[3] = ${float(beta1)} * scaling[3] + ${float(1 - beta1)};
  scaling[4] = ${float(beta2)} * scaling[4] + ${float(1 - beta2)};
  if (scaling[0] < ${float(interval)}) { return; }
  scaling[0] = 0f;
  scale[0] = min(2f * used, ${float(largestScale)});
}
`,
      workgroups: [1, 1, 1],
    },
  ],
};
