// regression_loss: squared, absolute or Huber loss and gradient, a thread an element.

import type { GpuKernel } from '../gpu-contract.ts';
import { lossPasses, lossTemporaries } from '../gpu-loss.ts';
import { float } from '../gpu-wgsl.ts';
import { regressionLossKinds } from './kernel.ts';

export const gpu: GpuKernel = {
  temporaries: ({ batch, targets }) => lossTemporaries(batch * targets, 1, 1),
  passes: ({ batch, targets, kind, delta }, context) => {
    const count = batch * targets;
    const share = float(1 / count);
    return lossPasses(
      {
        label: `regression_loss ${batch}×${targets}`,
        rows: count,
        width: 1,
        lanes: 1,
        reads: ['prediction', 'target'],
        functions: '',
        before: '',
        row: `let difference = prediction[row] - target_[row];
    let size = abs(difference);
    ${valueAndSlope(kind, float(delta))}
    contribution = value * ${share};
    ${context.has('gradient') ? `if (valid) { gradient[row] = slope * ${share}; }` : ''}`,
      },
      context,
    );
  },
};

/** WGSL that sets `value` = l(difference) and `slope` = l′(difference). */
function valueAndSlope(kind: number, delta: string): string {
  const { mse, mae } = regressionLossKinds;
  if (kind === mse) return 'let value = difference * difference; let slope = 2f * difference;';
  if (kind === mae) return 'let value = size; let slope = sign(difference);';
  return `let near = size <= ${delta};
    let value = select(${delta} * (size - 0.5f * ${delta}), 0.5f * difference * difference, near);
    let slope = select(${delta} * sign(difference), difference, near);`;
}
