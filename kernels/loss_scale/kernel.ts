// Dynamic loss scaling: gradients in 16 bits are those of the loss times a scale, so that none is lost below 6e-8. After the backward
// pass this decides whether they went beyond the largest number instead, and what the scale of the next step is.
// P. Micikevicius et al., "Mixed Precision Training", ICLR 2018; halving and doubling as PyTorch's GradScaler.

import { defineKernel } from '../contract.ts';
import { scalingSize } from '../optimizer.ts';

/** The scale stays between these: where all gradients are 0 it would grow beyond all bounds, where the loss is infinite shrink to 0. */
export const [smallestScale, largestScale] = [2 ** -24, 2 ** 24];

const usual = { beta1: 0.9, beta2: 0.999, interval: 200 };

export const kernel = defineKernel({
  name: 'loss_scale',
  summary:
    'Where Σpartials is finite, or scale ≤ 2⁻²⁴: scaling = [n + 1, skipped, 1/scale, β₁·c₁ + 1 − β₁, β₂·c₂ + 1 − β₂], and with n + 1 = interval ' +
    'n ← 0, scale ← min(2·scale, 2²⁴). Elsewhere scaling = [0, skipped + 1, 0, c₁, c₂], scale ← scale/2.',
  inputs: [
    {
      name: 'partials',
      shape: (p) => [p.chunks],
      // Of the cases, those with an odd number of chunks are beyond float32.
      sample: ({ chunks }, random, index) => (chunks % 2 === 1 && index === chunks >> 1 ? Infinity : random()),
    },
  ],
  outputs: [
    {
      name: 'scale',
      shape: () => [1],
      inPlace: true,
      sample: ({ chunks }) => (chunks < 2 ? smallestScale : chunks === 64 ? largestScale : 1024),
    },
    {
      name: 'scaling',
      shape: () => [scalingSize],
      inPlace: true,
      sample: (_, __, index) => [1, 5, 0.25, 0.1, 0.001][index],
    },
  ],
  params: { chunks: 'i32', beta1: 'f32', beta2: 'f32', interval: 'i32' },
  cost: (p) => ({ flops: p.chunks + 8, bytes: 4 * (p.chunks + 12) }),
  tolerance: { relative: 5e-7, absolute: 0, why: 'two roundings a correction' },
  cases: [
    { params: { ...usual, chunks: 1 } },
    { params: { ...usual, chunks: 7 } },
    { params: { ...usual, chunks: 8 } },
    { params: { ...usual, chunks: 8, interval: 2 } },
    { params: { ...usual, chunks: 64, interval: 2 } },
    { params: { ...usual, chunks: 65, beta1: 0.5 } },
  ],
});
