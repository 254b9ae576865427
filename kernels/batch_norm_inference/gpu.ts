// batch_norm_inference, one element a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, float, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ outer, channels, inner, epsilon }, { limits }) => {
    const view = scalarView(outer * channels * inner, limits);
    const body = `let channel = i / ${inner}u % ${channels}u;
  let scale = gamma[channel] / sqrt(runningVariance[channel] + ${float(epsilon)});
  y[i] = (x[i] - runningMean[channel]) * scale + beta[channel];`;
    return [
      {
        label: 'batch_norm_inference',
        reads: { x: 'f32', gamma: 'f32', beta: 'f32', runningMean: 'f32', runningVariance: 'f32' },
        writes: { y: 'f32' },
        code: elementwise(view, body),
        workgroups: view.workgroups,
      },
    ];
  },
};
