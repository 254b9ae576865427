// Oracle of activation.

import { activate, activationName } from '../activations.ts';
import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { x } = present(inputs);
  const { y } = present(outputs);
  const name = activationName(params.activation);
  for (let i = 0; i < params.count; i++) y[i] = activate(name, x[i], params.slope);
};
