// The product under every dense layer, forward and for the gradient of its input, with the activation fused in.
// M rows of the result, N columns, K the summed dimension.

import { activationCodes } from '../activations.ts';
import { defineKernel } from '../contract.ts';
import { savedActivation } from '../samples.ts';

const { relu, leaky_relu, gelu, silu, tanh, sigmoid, mish, selu } = activationCodes;
const plain = { transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 };

export const kernel = defineKernel({
  name: 'matmul',
  summary:
    'c = f(op(a)·op(b) + bias), or with `gradient` c = (op(a)·op(b)) ⊙ f′(saved), f′ taken from the output of f.',
  inputs: [
    { name: 'a', shape: (p) => (p.transposeA ? [p.k, p.m] : [p.m, p.k]) },
    { name: 'b', shape: (p) => (p.transposeB ? [p.n, p.k] : [p.k, p.n]) },
    { name: 'bias', shape: (p) => [p.n], optional: true },
    {
      name: 'saved',
      shape: (p) => [p.m, p.n],
      optional: true,
      sample: (p, random, index) => savedActivation(random, index, p.activation, true),
    },
  ],
  outputs: [{ name: 'c', shape: (p) => [p.m, p.n] }],
  params: {
    m: 'i32',
    n: 'i32',
    k: 'i32',
    transposeA: 'i32',
    transposeB: 'i32',
    activation: 'i32',
    slope: 'f32',
    gradient: 'i32',
  },
  cost: (p) => ({
    flops: 2 * p.m * p.n * p.k,
    bytes: 4 * (p.m * p.k + p.k * p.n + p.m * p.n * (p.gradient ? 2 : 1)),
  }),
  tolerance: {
    relative: 3e-6,
    absolute: 1e-6,
    why: 'K float32 products are summed: the error grows like √K·2⁻²⁴ relative to the largest sums, K ≤ 600 in the cases',
  },
  cases: [
    { params: { ...plain, m: 1, n: 1, k: 1 }, absent: ['bias', 'saved'] },
    { params: { ...plain, m: 1, n: 17, k: 3, activation: relu }, absent: ['saved'] },
    { params: { ...plain, m: 7, n: 13, k: 11, activation: gelu }, absent: ['saved'] },
    { params: { ...plain, m: 32, n: 64, k: 20, activation: relu }, absent: ['saved'] },
    { params: { ...plain, m: 32, n: 1, k: 32 }, absent: ['saved'] },
    { params: { ...plain, m: 31, n: 1, k: 7, activation: sigmoid }, absent: ['saved'] },
    { params: { ...plain, m: 33, n: 67, k: 129, activation: leaky_relu, slope: 0.1 }, absent: ['saved'] },
    { params: { ...plain, m: 5, n: 6, k: 601 }, absent: ['saved'] },
    { params: { ...plain, m: 15, n: 6, k: 5, activation: tanh }, absent: ['saved'] },
    { params: { ...plain, m: 10, n: 9, k: 3, activation: mish }, absent: ['saved'] },
    { params: { ...plain, m: 5, n: 35, k: 4, activation: selu }, absent: ['bias', 'saved'] },
    { params: { ...plain, m: 6, n: 34, k: 5, transposeB: 1, activation: selu, gradient: 1 }, absent: ['bias'] },
    { params: { ...plain, m: 9, n: 10, k: 2, activation: silu }, absent: ['bias', 'saved'] },
    { params: { ...plain, m: 19, n: 23, k: 29, transposeA: 1 }, absent: ['bias', 'saved'] },
    { params: { ...plain, m: 64, n: 48, k: 96, transposeB: 1 }, absent: ['bias', 'saved'] },
    { params: { ...plain, m: 3, n: 5, k: 7, transposeA: 1, transposeB: 1, activation: relu }, absent: ['saved'] },
    { params: { ...plain, m: 32, n: 20, k: 64, transposeB: 1, activation: relu, gradient: 1 }, absent: ['bias'] },
    { params: { ...plain, m: 13, n: 64, k: 1, transposeB: 1, activation: relu, gradient: 1 }, absent: ['bias'] },
    { params: { ...plain, m: 11, n: 3, k: 31, transposeB: 1, activation: tanh, gradient: 1 }, absent: ['bias'] },
    { params: { ...plain, m: 1, n: 37, k: 5, transposeB: 1, activation: sigmoid, gradient: 1 }, absent: ['bias'] },
    {
      params: { ...plain, m: 17, n: 9, k: 4, transposeB: 1, activation: leaky_relu, slope: 0.2, gradient: 1 },
      absent: ['bias'],
    },
    { params: { ...plain, m: 130, n: 257, k: 300 }, absent: ['bias', 'saved'] },
  ],
});
