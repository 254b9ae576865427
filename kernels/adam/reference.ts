// Oracle of adam.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { gradientScale } from '../optimizer.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { count, decayCount, beta1, beta2, epsilon, weightDecay, decoupled, clip, scheduled } = params;
  const { gradient, scalars } = present(inputs);
  const { parameters, mean, variance } = present(outputs);
  if (inputs.scaling?.[2] === 0) return;
  const [learningRate, first, second, share] = scalars.subarray(4 * step);
  const [meanCorrection, varianceCorrection] = inputs.scaling?.subarray(3) ?? [first, second];
  const scale = gradientScale(inputs.scaling, inputs.partials, clip);
  for (let i = 0; i < count; i++) {
    const decay = i < decayCount ? weightDecay * (scheduled ? share : 1) : 0;
    let slope = gradient[i] * scale;
    if (decoupled) parameters[i] *= 1 - learningRate * decay;
    else slope += decay * parameters[i];
    mean[i] = beta1 * mean[i] + (1 - beta1) * slope;
    variance[i] = beta2 * variance[i] + (1 - beta2) * slope * slope;
    const deviation = Math.sqrt(variance[i] / varianceCorrection) + epsilon;
    parameters[i] -= ((learningRate / meanCorrection) * mean[i]) / deviation;
  }
  outputs.copies?.set(parameters);
};
