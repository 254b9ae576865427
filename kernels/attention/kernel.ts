// Attention without its matrix of scores: A. Vaswani et al., "Attention Is All You Need", 2017; the sums go over tiles of keys as in
// M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018, and T. Dao et al., "FlashAttention", 2022.

import { attentionCases, attentionParams, attentionProblem, packedWidth } from '../attention-shape.ts';
import { droppingOperands, qkvOperand, scoreProducts } from '../attention-shape.ts';
import { lengthsOperand } from '../token-codes.ts';
import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'attention',
  summary:
    'y = m·softmax(scale·q·kᵀ)·v for each head, over the first lengths[i] positions, where causal up to its own; logsum = ln Σ exp of the ' +
    'scores. Positions behind the last token give 0. m: the mask of dropped weights (attention-shape.ts), 1 without counters.',
  inputs: [qkvOperand, lengthsOperand, ...droppingOperands],
  outputs: [
    { name: 'y', shape: (p) => [p.batch, p.length, p.heads * p.size] },
    { name: 'logsum', shape: (p) => [p.batch, p.heads, p.length] },
  ],
  params: attentionParams,
  problem: attentionProblem,
  usesStep: true,
  cost: (p) => ({
    flops: 4 * scoreProducts(p) + (6 * scoreProducts(p)) / p.size,
    bytes: 4 * p.batch * p.length * (packedWidth(p) + p.heads * (p.size + 1)),
  }),
  tolerance: {
    relative: 5e-6,
    absolute: 1e-6,
    why: 'float32 sums over up to 150 keys with weights that add up to 1; the exponential is within 2e-7',
  },
  cases: attentionCases,
});
