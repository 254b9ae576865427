// Oracle of batched_matmul.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { forEachElement, maskedStrides } from '../sizes.ts';
import { batchSizes, type kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { m, n, k, scale } = params;
  const { a, b } = present(inputs);
  const { c } = present(outputs);
  const [aRow, aColumn] = params.transposeA ? [1, m] : [k, 1];
  const [bRow, bColumn] = params.transposeB ? [1, k] : [n, 1];
  const sizes = batchSizes(params);
  forEachElement(
    sizes,
    [maskedStrides(sizes, params.a), maskedStrides(sizes, params.b)],
    (product, [aBatch, bBatch]) => {
      const [atA, atB, atC] = [aBatch * m * k, bBatch * k * n, product * m * n];
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let l = 0; l < k; l++) sum += a[atA + i * aRow + l * aColumn] * b[atB + l * bRow + j * bColumn];
          c[atC + i * n + j] = scale * sum;
        }
      }
    },
  );
};
