// The optimizer's part of a training program: at most two calls, over all parameters at once.

import { reserved, type LoweredCall } from '../graph/op.ts';
import type { ReservedTensor } from '../graph/tensors.ts';
import { optimizerStates } from '../model/summary.ts';
import type { TrainingSpec } from '../model/spec.ts';
import type { ParameterLayout } from './layout.ts';

/** Partial sums of the gradient's squared norm; few enough that the optimizer adds them up itself. */
const normChunks = 64;

/** Names of the states an optimizer keeps, in its kernel's order. */
export function optimizerStateNames(optimizer: TrainingSpec['optimizer']): readonly ReservedTensor[] {
  const names: readonly ReservedTensor[] =
    optimizer.name === 'sgd'
      ? ['optimizer.velocity']
      : optimizer.name === 'rmsprop'
        ? ['optimizer.square', 'optimizer.velocity']
        : ['optimizer.mean', 'optimizer.variance'];
  return names.slice(0, optimizerStates(optimizer));
}

export const clippingTensor = { name: 'optimizer.partials', shape: [normChunks] } as const;

export function optimizerCalls(
  training: Pick<TrainingSpec, 'optimizer' | 'clipNorm'>,
  { count, decayCount }: ParameterLayout,
  steps: number,
  gradients: 'gradients' | 'gradients.sum' = 'gradients',
): readonly LoweredCall[] {
  const { optimizer, clipNorm } = training;
  const clipping = clipNorm > 0;
  const partials = clipping ? reserved(clippingTensor.name) : null;
  const [first = null, second = null] = optimizerStateNames(optimizer).map(reserved);
  const shared = { count, decayCount };
  const tail = { weightDecay: optimizer.weightDecay, clip: clipNorm, chunks: normChunks, steps };
  const inputs = [reserved(gradients), reserved('step.scalars'), partials];
  const parameters = reserved('parameters');
  const update = ((): LoweredCall => {
    switch (optimizer.name) {
      case 'adam':
      case 'adamw':
        return {
          kernel: 'adam',
          inputs,
          outputs: [parameters, first, second],
          params: {
            ...shared,
            beta1: optimizer.beta1,
            beta2: optimizer.beta2,
            epsilon: optimizer.epsilon,
            decoupled: optimizer.name === 'adamw' ? 1 : 0,
            ...tail,
          },
        };
      case 'sgd':
        return {
          kernel: 'sgd',
          inputs,
          outputs: [parameters, first],
          params: { ...shared, momentum: optimizer.momentum, nesterov: optimizer.nesterov ? 1 : 0, ...tail },
        };
      case 'rmsprop':
        return {
          kernel: 'rmsprop',
          inputs,
          outputs: [parameters, first, second],
          params: {
            ...shared,
            alpha: optimizer.alpha,
            epsilon: optimizer.epsilon,
            momentum: optimizer.momentum,
            ...tail,
          },
        };
    }
  })();
  if (!clipping) return [update];
  const norm = {
    kernel: 'sum_squares',
    inputs: [reserved(gradients)],
    outputs: [reserved(clippingTensor.name)],
    params: { count, chunks: normChunks },
  };
  return [norm, update];
}
