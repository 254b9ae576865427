// Gradient of a convolution by its input. Run forwards it is the transposed convolution: hence the bias and the activation.

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
import { savedActivation } from '../samples.ts';

const { none, relu, leaky_relu, gelu, tanh, sigmoid } = activationCodes;
const forwards = [none, relu, gelu, none];
const derivatives = [relu, leaky_relu, tanh, sigmoid];

export const kernel = defineKernel({
  name: 'conv2d_input_grad',
  summary:
    'dx[n,c,·,·] = Σ w[o,c,a,b] · dy[n,o,i,j] over all products of conv2d that read the element. Then dx = f(dx + bias[c]) ' +
    '(a transposed convolution), or with `gradient` dx ⊙ f′(saved), f′ taken from the output of f.',
  inputs: [
    { name: 'dy', shape: outputShape },
    { name: 'w', shape: weightShape },
    { name: 'bias', shape: (p) => [p.channels], optional: true },
    {
      name: 'saved',
      shape: inputShape,
      optional: true,
      sample: (p, random, index) => savedActivation(random, index, p.activation, true),
    },
  ],
  outputs: [{ name: 'dx', shape: inputShape }],
  params: { ...convolutionParams, activation: 'i32', slope: 'f32', gradient: 'i32' },
  cpuProblem: (p) => cpuProblem(p),
  cost: (p) => ({ flops: 2 * multiplyAdds(p), bytes: bytesMoved(p) }),
  tolerance: {
    relative: 3e-6,
    absolute: 2e-6,
    why: 'up to 333 float32 products are summed; the error grows like the root of their number times 2⁻²⁴',
  },
  cases: convolutionCases.map((each, i) => {
    const gradient = i % 2;
    const activation = (gradient ? derivatives : forwards)[(i >> 1) % 4];
    return {
      params: { ...each, activation, slope: 0.1, gradient },
      absent: gradient ? ['bias'] : i % 4 === 0 ? ['saved', 'bias'] : ['saved'],
    };
  }),
});
