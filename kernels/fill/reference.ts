// Oracle of fill.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (_, outputs, params) => {
  present(outputs).y.fill(params.value, 0, params.count);
};
