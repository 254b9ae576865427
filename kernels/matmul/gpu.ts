// matmul as a tiled product with bias and activation, or the activation's gradient, in its epilogue. A small result over a deep
// sum is cut into splits; then the pass that adds them up has the epilogue.

import { activateFunction, derivativeFunction } from '../gpu-activations.ts';
import type { GpuContext, GpuKernel } from '../gpu-contract.ts';
import { matrixSink, storedMatrix } from '../gpu-matrix.ts';
import { productPass } from '../gpu-product.ts';
import { partialName, partialSizes, splitsOf, type SumFinish, sumPass } from '../gpu-splits.ts';
import { productVariants } from '../gpu-tiles.ts';
import { elementwiseView, scalarView } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

/** Splits below which the second pass costs more than it gains. */
const leastSplits = 8;
const splitsFor = ({ m, n, k }: Params): number => splitsOf(m, n, k, 1, leastSplits);

export const gpu: GpuKernel = {
  variants: (params, context) => productVariants(params.m, params.n, splitsFor(params), ['a', 'b'], context),
  temporaries: (params, context) => partialSizes({ c: params.m * params.n }, splitsFor(params), context),
  passes: (params, context, variant) => {
    const { m, n, k, transposeA, transposeB } = params;
    const splits = splitsFor(params);
    const { code, functions, reads } = epilogue(params, context);
    const whole = splits === 1;
    const product = {
      label: `matmul ${m}×${n}×${k}`,
      m,
      n,
      k,
      a: storedMatrix('a', m, k, !transposeA),
      b: storedMatrix('b', n, k, transposeB !== 0),
      sink: matrixSink({
        c: partialName('c', splits),
        n,
        ...(whole ? { epilogue: code('at', 'column_at'), functions, extra: reads } : {}),
      }),
      splits,
    };
    const pass = productPass(product, context, variant);
    if (whole) return [pass];
    const vectors = n % 4 === 0;
    const view = vectors ? elementwiseView(m * n, context.limits) : scalarView(m * n, context.limits);
    const finish: SumFinish = { code: code('i', `i % ${vectors ? n / 4 : n}u`), functions, reads };
    return [pass, sumPass('c', splits, view, finish)];
  },
};

/** `code` changes `value: V`, given where it stands in c and within its row. */
function epilogue(params: Params, context: GpuContext) {
  const { activation, slope, gradient } = params;
  if (gradient) {
    const fromOutput = true;
    return {
      reads: ['saved'],
      code: (at: string): string => `value *= derivative(saved[${at}]);`,
      functions: derivativeFunction(activation, slope, fromOutput),
    };
  }
  const bias = context.has('bias');
  const activate = activation !== 0;
  return {
    reads: bias ? ['bias'] : [],
    code: (_at: string, column: string): string =>
      `${bias ? `value += bias[${column}];` : ''} ${activate ? 'value = activate(value);' : ''}`,
    functions: activate ? activateFunction(activation, slope) : '',
  };
}
