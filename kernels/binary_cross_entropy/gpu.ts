// binary_cross_entropy: loss and gradient of a batch of logits, a thread a row.

import type { GpuKernel } from '../gpu-contract.ts';
import { lossPasses, lossTemporaries, sumCall } from '../gpu-loss.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  temporaries: ({ batch }) => lossTemporaries(batch, 1, 1),
  passes: ({ batch, smoothing }, context) => {
    const weighted = context.has('weights');
    const sumOfWeights = `var row_weights = 0f;
  for (var row = thread; row < ROWS; row += THREADS) { row_weights += weights[u32(target_[row])]; }
  let total_weight = ${sumCall('row_weights', context)};`;
    return lossPasses(
      {
        label: `binary_cross_entropy ${batch}`,
        rows: batch,
        width: 1,
        lanes: 1,
        reads: ['logits', 'target', ...(weighted ? ['weights'] : [])],
        functions: softplusFunction,
        before: weighted ? sumOfWeights : `let total_weight = ${float(batch)};`,
        row: `let logit = logits[row];
    let wanted = target_[row] * ${float(1 - smoothing)} + ${float(smoothing / 2)};
    let weight = ${weighted ? 'weights[u32(target_[row])]' : '1f'} / total_weight;
    let small = exp(-abs(logit));
    contribution = weight * (max(logit, 0f) - logit * wanted + log_one_plus(small));
    ${context.has('gradient') ? 'if (valid) { gradient[row] = weight * (select(small, 1f, logit >= 0f) / (1f + small) - wanted); }' : ''}`,
      },
      context,
    );
  },
};

/** ln(1 + e) for 0 ≤ e ≤ 1; the series where 1 + e would lose most of e. */
const softplusFunction = `fn log_one_plus(e: f32) -> f32 {
  return select(log(1f + e), e * (1f - e * (0.5f - e * 0.33333333f)), e < 0.01f);
}`;
