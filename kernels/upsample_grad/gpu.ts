// upsample_grad, one element of the result a thread: it adds up the elements that repeat it.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ planes, height, width, factor }, { limits }) => {
    const wide = width * factor;
    const view = scalarView(planes * height * width, limits);
    // Rows of all planes follow one another, so row · factor holds across planes too.
    const body = `let first = i / ${width}u * ${factor * wide}u + i % ${width}u * ${factor}u;
  var sum = 0f;
  for (var a = 0u; a < ${factor}u; a++) {
    for (var b = 0u; b < ${factor}u; b++) { sum += dy[first + a * ${wide}u + b]; }
  }
  dx[i] = sum;`;
    return [
      {
        label: 'upsample_grad',
        reads: { dy: 'f32' },
        writes: { dx: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
