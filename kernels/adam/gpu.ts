// adam: Adam and AdamW over all parameters in one dispatch.

import type { GpuKernel } from '../gpu-contract.ts';
import { optimizerPass } from '../gpu-optimizer.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, context) => {
    const { beta1, beta2, epsilon, decoupled, scheduled } = params;
    const decay = scheduled ? 'decay * scalars[step * 4u + 3u]' : 'decay';
    const update = `${decoupled ? `p *= 1f - rate * ${decay}; let slope = g;` : `let slope = g + ${decay} * p;`}
  let first = ${float(beta1)} * mean[i] + ${float(1 - beta1)} * slope;
  let second = ${float(beta2)} * variance[i] + ${float(1 - beta2)} * slope * slope;
  mean[i] = first;
  variance[i] = second;
  p -= (rate / scalar1) * first / (sqrt(second / scalar2) + ${float(epsilon)});`;
    return [optimizerPass({ label: 'adam', state: ['mean', 'variance'], update }, params, context)];
  },
};
