// dense_weight_grad as a tiled product xᵀ·dy that sums the columns of dy on the way; split over a deep batch.

import type { GpuKernel } from '../gpu-contract.ts';
import { matrixSink, storedMatrix } from '../gpu-matrix.ts';
import { productPass } from '../gpu-product.ts';
import { partialName, partialSizes, splitsOf, sumSplits } from '../gpu-splits.ts';
import { productVariants } from '../gpu-tiles.ts';

type Params = Readonly<Record<string, number>>;

const splitsFor = ({ inputs, units, batch }: Params): number => splitsOf(inputs, units, batch);
const sizesOf = ({ inputs, units }: Params): Readonly<Record<string, number>> => ({ dw: inputs * units, db: units });

export const gpu: GpuKernel = {
  variants: (params, context) => productVariants(params.inputs, params.units, splitsFor(params), ['x', 'dy'], context),
  temporaries: (params, context) => partialSizes(sizesOf(params), splitsFor(params), context),
  passes: (params, context, variant) => {
    const { batch, inputs, units } = params;
    const splits = splitsFor(params);
    const product = {
      label: `dense_weight_grad ${inputs}×${units}×${batch}`,
      m: inputs,
      n: units,
      k: batch,
      a: storedMatrix('x', inputs, batch, false),
      b: storedMatrix('dy', units, batch, false),
      sink: matrixSink({
        c: partialName('dw', splits),
        n: units,
        columnSums: context.has('db') ? partialName('db', splits) : undefined,
      }),
      splits,
    };
    return [productPass(product, context, variant), ...sumSplits(sizesOf(params), splits, context)];
  },
};
