// What the optimizer kernels share: their operands, and the scale of gradient clipping (PyTorch's clip_grad_norm_).

import type { Operand } from './contract.ts';
import { optimizerScalar } from './samples.ts';

/** Parameters every optimizer has. */
export type OptimizerParameter = 'count' | 'decayCount' | 'weightDecay' | 'clip' | 'chunks' | 'steps';

/** gradient [count], scalars [steps, 4] (learning rate, 1 − β₁ᵗ, 1 − β₂ᵗ, share of what is scheduled), partials? [chunks] of sum_squares. */
export const optimizerInputs: readonly Operand<OptimizerParameter>[] = [
  { name: 'gradient', shape: (p) => [p.count] },
  { name: 'scalars', shape: (p) => [p.steps, 4], sample: (_, __, index) => optimizerScalar(index) },
  { name: 'partials', shape: (p) => [p.chunks], optional: true, sample: (_, random) => random() },
];

/** Optimizer state or parameters, updated in place. */
export const optimizerState = (name: string): Operand<OptimizerParameter> => ({
  name,
  shape: (p) => [p.count],
  inPlace: true,
});

/** State that is a running mean of squares, so never negative. */
export const squaredState = (name: string): Operand<OptimizerParameter> => ({
  ...optimizerState(name),
  sample: (_, random) => random() ** 2,
});

/** The factor all gradients are scaled by: min(1, clip/(‖gradient‖ + 1e-6)), 1 without partial sums. */
export function clipScale(partials: Float64Array | null, clip: number): number {
  if (!partials) return 1;
  const norm = Math.sqrt(partials.reduce((sum, part) => sum + part, 0));
  return Math.min(1, clip / (norm + 1e-6));
}
