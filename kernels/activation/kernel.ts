// An activation on its own, where no product could take it in.

import { activationCodes } from '../activations.ts';
import { defineKernel } from '../contract.ts';
import { normalWithOutliers } from '../samples.ts';

const { none, relu, leaky_relu, gelu, silu, tanh, sigmoid, mish, selu, cosine, log, soft_clip, relu6, gelu_tanh } =
  activationCodes;

export const kernel = defineKernel({
  name: 'activation',
  summary:
    'y = f(x) for the activation of that code; `slope` is the negative slope of leaky_relu, one over the limit of soft_clip.',
  inputs: [{ name: 'x', shape: (p) => [p.count], sample: (_, random, index) => normalWithOutliers(random, index, 5) }],
  outputs: [{ name: 'y', shape: (p) => [p.count] }],
  params: { count: 'i32', activation: 'i32', slope: 'f32' },
  cost: (p) => ({ flops: p.count, bytes: 8 * p.count }),
  tolerance: { relative: 5e-7, absolute: 5e-7, why: 'one polynomial of a few units in the last place an element' },
  cases: [
    { params: { count: 1, activation: relu, slope: 0 } },
    { params: { count: 37, activation: none, slope: 0 } },
    { params: { count: 1031, activation: relu, slope: 0 } },
    { params: { count: 67, activation: leaky_relu, slope: 0.1 } },
    { params: { count: 1031, activation: gelu, slope: 0 } },
    { params: { count: 1031, activation: silu, slope: 0 } },
    { params: { count: 1031, activation: tanh, slope: 0 } },
    { params: { count: 1031, activation: sigmoid, slope: 0 } },
    { params: { count: 1031, activation: mish, slope: 0 } },
    { params: { count: 1031, activation: selu, slope: 0 } },
    { params: { count: 1031, activation: cosine, slope: 0 } },
    { params: { count: 67, activation: log, slope: 0 } },
    { params: { count: 67, activation: soft_clip, slope: 0.5 } },
    { params: { count: 67, activation: relu6, slope: 0 } },
    { params: { count: 1031, activation: gelu_tanh, slope: 0 } },
    { params: { count: 3, activation: gelu, slope: 0 } },
    { params: { count: 5, activation: tanh, slope: 0 } },
  ],
});
