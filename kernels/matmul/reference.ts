// Oracle of matmul: three loops in float64.

import { activate, activationName, derivativeOfOutput } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { m, n, k, slope } = params;
  const { a, b } = present(inputs);
  const { bias, saved } = inputs;
  const { c } = present(outputs);
  const name = activationName(params.activation);
  const [aRow, aColumn] = params.transposeA ? [1, m] : [k, 1];
  const [bRow, bColumn] = params.transposeB ? [1, k] : [n, 1];
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = bias ? bias[j] : 0;
      for (let l = 0; l < k; l++) sum += a[i * aRow + l * aColumn] * b[l * bRow + j * bColumn];
      const element = i * n + j;
      if (!params.gradient) c[element] = activate(name, sum, slope);
      else c[element] = saved && name !== 'none' ? sum * derivativeOfOutput(name, saved[element], slope) : sum;
    }
  }
};
