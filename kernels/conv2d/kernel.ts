// Two-dimensional convolution (cross-correlation, as everywhere in the field), bias and activation fused in.

import { activationCodes } from '../activations.ts';
import { defineKernel } from '../contract.ts';
import {
  bytesMoved,
  convolutionCases,
  convolutionParams,
  cpuProblem,
  inputShape,
  multiplyAdds,
  outputShape,
  weightShape,
} from '../convolution.ts';

const codes = Object.values(activationCodes);

export const kernel = defineKernel({
  name: 'conv2d',
  summary:
    'y[n,o,i,j] = f(bias[o] + Σ w[o,c,a,b] · x[n,c′,i·stride + a·dilation − padding, j·stride + b·dilation − padding]) ' +
    'over the channels of the filter’s group; zeros beyond the border. PyTorch’s conv2d.',
  inputs: [
    { name: 'x', shape: inputShape },
    { name: 'w', shape: weightShape },
    { name: 'bias', shape: (p) => [p.filters], optional: true },
  ],
  outputs: [{ name: 'y', shape: outputShape }],
  params: { ...convolutionParams, activation: 'i32', slope: 'f32' },
  cpuProblem: (p) => cpuProblem(p),
  cost: (p) => ({ flops: 2 * multiplyAdds(p), bytes: bytesMoved(p) }),
  tolerance: {
    relative: 3e-6,
    absolute: 2e-6,
    why: 'up to 405 float32 products are summed; the error grows like the root of their number times 2⁻²⁴',
  },
  cases: convolutionCases.map((each, i) => ({
    params: { ...each, activation: i % 2 === 0 ? 0 : codes[(i >> 1) % codes.length], slope: 0.1 },
    absent: i % 3 === 0 ? ['bias'] : [],
  })),
});
