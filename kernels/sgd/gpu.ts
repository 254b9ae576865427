// sgd: gradient descent with optional momentum over all parameters in one dispatch.

import type { GpuKernel } from '../gpu-contract.ts';
import { optimizerPass } from '../gpu-optimizer.ts';
import { float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, context) => {
    const momentum = float(params.momentum);
    const withVelocity = `let v = ${momentum} * velocity[i] + slope;
  velocity[i] = v;
  p -= rate * ${params.nesterov ? `(slope + ${momentum} * v)` : 'v'};`;
    const state = context.has('velocity') ? ['velocity'] : [];
    const update = `let slope = g + decay * p;
  ${state.length > 0 ? withVelocity : 'p -= rate * slope;'}`;
    return [optimizerPass({ label: 'sgd', state, update }, params, context)];
  },
};
