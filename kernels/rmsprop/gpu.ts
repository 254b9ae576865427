// rmsprop over all parameters in one dispatch.

import type { GpuKernel } from '../gpu-contract.ts';
import { optimizerPass } from '../gpu-optimizer.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, context) => {
    const { alpha, epsilon, momentum } = params;
    const hasVelocity = context.has('velocity');
    const update = `let slope = g + decay * p;
  let average = ${float(alpha)} * square[i] + ${float(1 - alpha)} * slope * slope;
  square[i] = average;
  var change = slope / (sqrt(average) + ${float(epsilon)});
  ${hasVelocity ? `change += ${float(momentum)} * velocity[i]; velocity[i] = change;` : ''}
  p -= rate * change;`;
    const state = hasVelocity ? ['square', 'velocity'] : ['square'];
    return [optimizerPass({ label: 'rmsprop', state, update }, params, context)];
  },
};
