// Oracle of sgd.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { gradientScale } from '../optimizer.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { count, decayCount, momentum, nesterov, weightDecay, clip } = params;
  if (inputs.scaling?.[2] === 0) return;
  const { gradient, scalars } = present(inputs);
  const { parameters } = present(outputs);
  const { velocity } = outputs;
  const learningRate = scalars[4 * step];
  const scale = gradientScale(inputs.scaling, inputs.partials, clip);
  for (let i = 0; i < count; i++) {
    let slope = gradient[i] * scale + (i < decayCount ? weightDecay : 0) * parameters[i];
    if (velocity) {
      velocity[i] = momentum * velocity[i] + slope;
      slope = nesterov ? slope + momentum * velocity[i] : velocity[i];
    }
    parameters[i] -= learningRate * slope;
  }
  outputs.copies?.set(parameters);
};
