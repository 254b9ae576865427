// matmul as a tiled product with bias and activation, or the activation's gradient, in its epilogue.

import type { GpuContext, GpuKernel } from '../gpu-contract.ts';
import { type MatrixSink, matrixSink, storedMatrix } from '../gpu-matrix.ts';
import { productPass, rankTiles, tileNamed } from '../gpu-product.ts';
import { activateFunction, derivativeFunction } from '../gpu-activations.ts';

export const gpu: GpuKernel = {
  variants: ({ m, n }, { limits }) => rankTiles(m, n, 1, limits).map((tile) => tile.name),
  passes: (params, context, variant) => {
    const { m, n, k, transposeA, transposeB } = params;
    const tile = variant === undefined ? rankTiles(m, n, 1, context.limits)[0] : tileNamed(variant);
    const product = {
      label: `matmul ${m}×${n}×${k}`,
      m,
      n,
      k,
      a: storedMatrix('a', m, k, !transposeA),
      b: storedMatrix('b', n, k, transposeB !== 0),
      sink: matrixSink({ c: 'c', n, ...epilogue(params, context) }),
      splits: 1,
    };
    return [productPass(product, tile, context)];
  },
};

function epilogue(params: Readonly<Record<string, number>>, context: GpuContext): Partial<MatrixSink> {
  const { activation, slope, gradient } = params;
  if (gradient) {
    const fromOutput = true;
    return {
      extra: ['saved'],
      epilogue: 'value *= derivative(saved[at]);',
      functions: derivativeFunction(activation, slope, fromOutput),
    };
  }
  const bias = context.has('bias');
  const activate = activation !== 0;
  return {
    extra: bias ? ['bias'] : [],
    epilogue: `${bias ? 'value += bias[column_at];' : ''} ${activate ? 'value = activate(value);' : ''}`,
    functions: activate ? activateFunction(activation, slope) : '',
  };
}
