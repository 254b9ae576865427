// dropout_channels: one element a thread; every element of a plane draws the plane's word.

import type { GpuKernel } from '../gpu-contract.ts';
import { keepFunction, threefryFunction } from '../gpu-random.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ planes, inner, rate, seed, stream }, { limits }) => {
    const view = scalarView(planes * inner, limits);
    const body = `let plane = i / ${inner}u;
  let words = threefry(plane >> 1u, counters[step]);
  y[i] = keep(x[i], select(words.x, words.y, plane % 2u == 1u), ${float(rate)});`;
    return [
      {
        label: 'dropout_channels',
        reads: { x: 'f32', counters: 'u32' },
        writes: { y: 'f32' },
        usesStep: true,
        code: elementwise(view, body, `${threefryFunction(seed, stream)}\n${keepFunction}`),
        workgroups: view.workgroups,
      },
    ];
  },
};
