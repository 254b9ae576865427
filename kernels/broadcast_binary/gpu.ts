// broadcast_binary, one element a thread.

import { elementCount } from '../contract.ts';
import type { GpuKernel, WgslElement } from '../gpu-contract.ts';
import { offsetFunction } from '../gpu-sizes.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';
import { maskedStrides, type SizeName, sizesOf } from '../sizes.ts';
import { binaryCodes } from './kernel.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits, has }) => {
    const sizes = sizesOf(params as Readonly<Record<SizeName, number>>);
    const view = scalarView(elementCount(sizes), limits);
    const scale = float(params.scale);
    const [a, b] = ['a[offset_a(i)]', 'b[offset_b(i)]'];
    const both = params.operation === binaryCodes.add ? `${a} + ${scale} * ${b}` : `${scale} * ${a} * ${b}`;
    const declarations = [
      offsetFunction('offset_a', sizes, maskedStrides(sizes, params.a)),
      ...(has('b') ? [offsetFunction('offset_b', sizes, maskedStrides(sizes, params.b))] : []),
    ];
    const reads: Readonly<Record<string, WgslElement>> = has('b') ? { a: 'f32', b: 'f32' } : { a: 'f32' };
    return [
      {
        label: 'broadcast_binary',
        reads,
        writes: { c: 'f32' },
        code: elementwise(view, `c[i] = ${has('b') ? both : `${scale} * ${a}`};`, declarations.join('')),
        workgroups: view.workgroups,
      },
    ];
  },
};
