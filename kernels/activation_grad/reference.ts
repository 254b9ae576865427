// Oracle of activation_grad.

import { activationName, derivative, derivativeOfOutput } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { dy, saved } = present(inputs);
  const { dx } = present(outputs);
  const name = activationName(params.activation);
  const slopeAt = params.fromOutput && name !== 'none' ? derivativeOfOutput : derivative;
  for (let i = 0; i < params.count; i++) dx[i] = dy[i] * slopeAt(name, saved[i], params.slope);
};
