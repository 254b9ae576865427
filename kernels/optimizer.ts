// What the optimizer kernels share: their operands, and the scale of gradient clipping (PyTorch's clip_grad_norm_).

import type { Operand } from './contract.ts';
import { optimizerScalar } from './samples.ts';

/** Parameters every optimizer has. */
export type OptimizerParameter = 'count' | 'decayCount' | 'weightDecay' | 'clip' | 'chunks' | 'steps';

/** gradient [count], scalars [steps, 4] (learning rate, 1 − β₁ᵗ, 1 − β₂ᵗ, share of what is scheduled), partials? [chunks] of sum_squares, scaling? [5] of loss_scale. */
export const optimizerInputs: readonly Operand<OptimizerParameter>[] = [
  { name: 'gradient', shape: (p) => [p.count] },
  { name: 'scalars', shape: (p) => [p.steps, 4], sample: (_, __, index) => optimizerScalar(index) },
  { name: 'partials', shape: (p) => [p.chunks], optional: true, sample: (_, random) => random() },
  // Of the cases, those with three steps are skipped.
  {
    name: 'scaling',
    shape: () => [scalingSize],
    optional: true,
    sample: ({ steps }, _, index) => [7, 1, steps === 3 ? 0 : 0.25, 0.3, 0.02][index],
  },
];

/** What `loss_scale` keeps: good steps since the scale was changed, steps skipped, factor of the gradients of this step (0: it is skipped), and the bias corrections 1 − β₁ᵗ and 1 − β₂ᵗ over the steps that were not. */
export const scalingSize = 5;

/** Optimizer state or parameters, updated in place. */
export const optimizerState = (name: string): Operand<OptimizerParameter> => ({
  name,
  shape: (p) => [p.count],
  inPlace: true,
});

/** Parameters once more, for a place that stores them in 16 bits. */
export const copiesOfParameters: Operand<OptimizerParameter> = { ...optimizerState('copies'), optional: true };

/** State that is a running mean of squares, so never negative. */
export const squaredState = (name: string): Operand<OptimizerParameter> => ({
  ...optimizerState(name),
  sample: (_, random) => random() ** 2,
});

/**
 * The factor all gradients are scaled by: that of `scaling` (1 without), times min(1, clip/(‖gradient‖ + 1e-6)) of what comes of it, 1
 * without partial sums; 0: the step is skipped.
 */
export function gradientScale(scaling: Float64Array | null, partials: Float64Array | null, clip: number): number {
  const factor = scaling?.[2] ?? 1;
  if (!partials) return factor;
  const norm = Math.sqrt(partials.reduce((sum, part) => sum + part, 0));
  return factor * Math.min(1, clip / (factor * norm + 1e-6));
}
