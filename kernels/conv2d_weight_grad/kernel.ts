// Gradients of a convolution by its weight and its bias.

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

export const kernel = defineKernel({
  name: 'conv2d_weight_grad',
  summary: 'dw[o,c,a,b] = Σ x · dy over all products of conv2d with that weight; db[o] = Σ dy[·,o,·,·].',
  inputs: [
    { name: 'x', shape: inputShape },
    { name: 'dy', shape: outputShape },
  ],
  outputs: [
    { name: 'dw', shape: weightShape },
    { name: 'db', shape: (p) => [p.filters], optional: true },
  ],
  params: { ...convolutionParams },
  cpuProblem: (p) => cpuProblem(p),
  cost: (p) => ({ flops: 2 * multiplyAdds(p), bytes: bytesMoved(p) }),
  tolerance: {
    relative: 4e-6,
    absolute: 3e-6,
    why: 'up to 576 float32 products are summed; the error grows like the root of their number times 2⁻²⁴',
  },
  cases: convolutionCases.map((params, i) => ({ params, absent: i % 2 === 0 ? ['db'] : [] })),
});
