// Gradient of attention: the weights are computed again from the kept sums, tile by tile.

import { attentionCases, attentionParams, attentionProblem, packedWidth } from '../attention-shape.ts';
import { type AttentionParameters, droppingOperands, qkvOperand, scoreProducts } from '../attention-shape.ts';
import { lengthsOperand } from '../token-codes.ts';
import { defineKernel } from '../contract.ts';
import { normal } from '../samples.ts';

const outputShape = (p: AttentionParameters): readonly number[] => [p.batch, p.length, p.heads * p.size];

/** Above every sum of a sample's scores, so that weights stay below 1 as they are in training. */
const sampledLogsum = (p: AttentionParameters, random: () => number): number =>
  Math.log(p.length) + 3 * p.scale * Math.sqrt(p.size) + Math.abs(normal(random));

export const kernel = defineKernel({
  name: 'attention_grad',
  summary:
    'With p = exp(scale·q·kᵀ − logsum) and the mask m of attention: dv = (m ⊙ p)ᵀ·dy, ds = p ⊙ (m ⊙ dy·vᵀ − Σ dy·y), dq = scale·ds·k, ' +
    'dk = scale·dsᵀ·q; 0 behind the last token.',
  inputs: [
    { name: 'dy', shape: outputShape },
    qkvOperand,
    { name: 'y', shape: outputShape },
    { name: 'logsum', shape: (p) => [p.batch, p.heads, p.length], sample: sampledLogsum },
    lengthsOperand,
    ...droppingOperands,
  ],
  outputs: [{ name: 'dqkv', shape: (p) => [p.batch, p.length, packedWidth(p)] }],
  params: attentionParams,
  problem: attentionProblem,
  usesStep: true,
  cost: (p) => ({
    flops: 10 * scoreProducts(p) + (6 * scoreProducts(p)) / p.size,
    bytes: 4 * p.batch * p.length * (2 * packedWidth(p) + p.heads * (2 * p.size + 1)),
  }),
  tolerance: {
    relative: 1e-5,
    absolute: 1e-6,
    why: 'float32 sums over up to 150 queries of weights that are exponentials of float32 sums',
  },
  cases: attentionCases,
});
