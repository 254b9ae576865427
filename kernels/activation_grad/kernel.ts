// The gradient of an activation, from what the forward pass kept of it.

import { activationCodes } from '../activations.ts';
import { defineKernel } from '../contract.ts';
import { savedActivation } from '../samples.ts';

const { none, relu, leaky_relu, gelu, silu, tanh, sigmoid, mish, selu, cosine, log, soft_clip, relu6, gelu_tanh } =
  activationCodes;

export const kernel = defineKernel({
  name: 'activation_grad',
  summary: 'dx = dy ⊙ f′, where `saved` holds the output of f if `fromOutput`, else its input.',
  inputs: [
    { name: 'dy', shape: (p) => [p.count] },
    {
      name: 'saved',
      shape: (p) => [p.count],
      sample: (p, random, index) => savedActivation(random, index, p.activation, p.fromOutput !== 0),
    },
  ],
  outputs: [{ name: 'dx', shape: (p) => [p.count] }],
  params: { count: 'i32', activation: 'i32', slope: 'f32', fromOutput: 'i32' },
  cost: (p) => ({ flops: 2 * p.count, bytes: 12 * p.count }),
  tolerance: {
    relative: 5e-7,
    absolute: 5e-7,
    why: 'one or two polynomials of a few units in the last place an element',
  },
  cases: [
    { params: { count: 1, activation: relu, slope: 0, fromOutput: 1 } },
    { params: { count: 37, activation: none, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: relu, slope: 0, fromOutput: 1 } },
    { params: { count: 67, activation: relu, slope: 0, fromOutput: 0 } },
    { params: { count: 67, activation: leaky_relu, slope: 0.1, fromOutput: 1 } },
    { params: { count: 31, activation: leaky_relu, slope: 0.1, fromOutput: 0 } },
    { params: { count: 1031, activation: gelu, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: silu, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: tanh, slope: 0, fromOutput: 1 } },
    { params: { count: 1031, activation: tanh, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: sigmoid, slope: 0, fromOutput: 1 } },
    { params: { count: 1031, activation: sigmoid, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: mish, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: selu, slope: 0, fromOutput: 1 } },
    { params: { count: 67, activation: selu, slope: 0, fromOutput: 0 } },
    { params: { count: 1031, activation: cosine, slope: 0, fromOutput: 0 } },
    { params: { count: 67, activation: log, slope: 0, fromOutput: 0 } },
    { params: { count: 67, activation: soft_clip, slope: 0.5, fromOutput: 0 } },
    { params: { count: 67, activation: relu6, slope: 0, fromOutput: 0 } },
    { params: { count: 67, activation: relu6, slope: 0, fromOutput: 1 } },
    { params: { count: 1031, activation: gelu_tanh, slope: 0, fromOutput: 0 } },
  ],
});
