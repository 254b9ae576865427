// Oracle of rmsprop.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { gradientScale } from '../optimizer.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { count, decayCount, alpha, epsilon, momentum, weightDecay, clip } = params;
  if (inputs.scaling?.[2] === 0) return;
  const { gradient, scalars } = present(inputs);
  const { parameters, square } = present(outputs);
  const { velocity } = outputs;
  const learningRate = scalars[4 * step];
  const scale = gradientScale(inputs.scaling, inputs.partials, clip);
  for (let i = 0; i < count; i++) {
    const slope = gradient[i] * scale + (i < decayCount ? weightDecay : 0) * parameters[i];
    square[i] = alpha * square[i] + (1 - alpha) * slope * slope;
    let update = slope / (Math.sqrt(square[i]) + epsilon);
    if (velocity) {
      velocity[i] = momentum * velocity[i] + update;
      update = velocity[i];
    }
    parameters[i] -= learningRate * update;
  }
  outputs.copies?.set(parameters);
};
