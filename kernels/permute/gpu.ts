// permute, one element a thread; neighbouring threads write neighbours.

import { elementCount } from '../contract.ts';
import type { GpuKernel } from '../gpu-contract.ts';
import { offsetFunction } from '../gpu-sizes.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';
import { type SizeName, sizesOf } from '../sizes.ts';
import { type StrideName, stridesOf } from './kernel.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits }) => {
    const sizes = sizesOf(params as Readonly<Record<SizeName, number>>);
    const strides = stridesOf(params as Readonly<Record<StrideName, number>>);
    const view = scalarView(elementCount(sizes), limits);
    return [
      {
        label: 'permute',
        reads: { x: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, 'y[i] = x[offset(i)];', offsetFunction('offset', sizes, strides)),
        workgroups: view.workgroups,
      },
    ];
  },
};
