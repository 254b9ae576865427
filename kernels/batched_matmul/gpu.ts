// batched_matmul as a tiled product of many layers; an operand that repeats finds its matrix by the layer's number.

import { elementCount } from '../contract.ts';
import type { GpuKernel } from '../gpu-contract.ts';
import { matrixSink, storedMatrix } from '../gpu-matrix.ts';
import { productPass } from '../gpu-product.ts';
import { offsetFunction } from '../gpu-sizes.ts';
import { productVariants } from '../gpu-tiles.ts';
import { float } from '../gpu-wgsl.ts';
import { maskedStrides } from '../sizes.ts';
import { type BatchName, batchSizes } from './kernel.ts';

type Params = Readonly<Record<string, number>>;

const sizesIn = (params: Params): readonly number[] => batchSizes(params as Readonly<Record<BatchName, number>>);
const layersOf = (params: Params): number => elementCount(sizesIn(params));

export const gpu: GpuKernel = {
  variants: (params, context) => productVariants(params.m, params.n, layersOf(params), ['a', 'b'], context),
  passes: (params, context, variant) => {
    const { m, n, k, transposeA, transposeB, scale } = params;
    const sizes = sizesIn(params);
    const layers = layersOf(params);
    const matrixOf = (operand: 'a' | 'b'): string =>
      offsetFunction(`matrix_${operand}`, sizes, maskedStrides(sizes, params[operand]));
    const product = {
      label: `batched_matmul ${layers}×${m}×${n}×${k}`,
      m,
      n,
      k,
      a: storedMatrix('a', m, k, !transposeA, 'matrix_a(layer)'),
      b: storedMatrix('b', n, k, transposeB !== 0, 'matrix_b(layer)'),
      sink: matrixSink({
        c: 'c',
        n,
        layered: true,
        epilogue: scale === 1 ? '' : `value *= ${float(scale)};`,
        functions: `${matrixOf('a')}${matrixOf('b')}`,
      }),
      splits: 1,
      layers,
    };
    return [productPass(product, context, variant)];
  },
};
