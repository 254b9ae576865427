// Oracle of regression_loss.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { type kernel, regressionLossKinds } from './kernel.ts';

const { mse, mae } = regressionLossKinds;

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { kind, delta } = params;
  const { prediction, target } = present(inputs);
  const { gradient } = outputs;
  const count = params.batch * params.targets;
  let loss = 0;
  for (let i = 0; i < count; i++) {
    const [value, slope] = lossAndSlope(kind, prediction[i] - target[i], delta);
    loss += value / count;
    if (gradient) gradient[i] = slope / count;
  }
  present(outputs).loss[step] = loss;
};

/** l(d) and l′(d). */
function lossAndSlope(kind: number, difference: number, delta: number): [number, number] {
  const size = Math.abs(difference);
  if (kind === mse) return [difference * difference, 2 * difference];
  if (kind === mae) return [size, Math.sign(difference)];
  if (size <= delta) return [(difference * difference) / 2, difference];
  return [delta * (size - delta / 2), delta * Math.sign(difference)];
}
