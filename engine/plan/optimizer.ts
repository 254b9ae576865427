// The optimizer's part of a training program: one call over all parameters at once, or one for each factor of the learning rate.

import { reserved, type LoweredCall, type LoweredOperand } from '../graph/op.ts';
import { bandName, scalarsName, type ReservedTensor } from '../graph/tensors.ts';
import { optimizerStates } from '../model/summary.ts';
import type { TrainingSpec } from '../model/spec.ts';
import type { ParameterGroup, ParameterLayout } from './layout.ts';

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

/** The update: one call for each factor of the learning rate; the gradient's norm before, where it is clipped. */
export function optimizerCalls(
  training: Pick<TrainingSpec, 'optimizer' | 'clipNorm' | 'schedule'>,
  { count, groups }: ParameterLayout,
  steps: number,
  gradients: 'gradients' | 'gradients.sum' = 'gradients',
): readonly LoweredCall[] {
  const whole = groups.length === 1;
  const updates = groups.flatMap((group, index) =>
    whole
      ? [updateCall(training, { ...group, count }, steps, gradients, null)]
      : group.count > 0
        ? [updateCall(training, group, steps, gradients, index)]
        : [],
  );
  if (training.clipNorm === 0) return updates;
  const norm = {
    kernel: 'sum_squares',
    inputs: [reserved(gradients)],
    outputs: [reserved(clippingTensor.name)],
    params: { count, chunks: normChunks },
  };
  return [norm, ...updates];
}

/** `band`: number of the group; null = all parameters. */
function updateCall(
  { optimizer, clipNorm, schedule }: Pick<TrainingSpec, 'optimizer' | 'clipNorm' | 'schedule'>,
  { rate, count, decayCount }: ParameterGroup,
  steps: number,
  gradients: 'gradients' | 'gradients.sum',
  band: number | null,
): LoweredCall {
  const named = (tensor: ReservedTensor): LoweredOperand => reserved(band === null ? tensor : bandName(tensor, band));
  const [first = null, second = null] = optimizerStateNames(optimizer).map(named);
  const partials = clipNorm > 0 ? reserved(clippingTensor.name) : null;
  const inputs = [named(gradients), reserved(scalarsName(band ?? 0)), partials];
  const parameters = named('parameters');
  const shared = { count, decayCount };
  const tail = { weightDecay: optimizer.weightDecay, clip: clipNorm, chunks: normChunks, steps };
  switch (optimizer.name) {
    case 'adam':
    case 'adamw': {
      const decoupled = optimizer.name === 'adamw';
      return {
        kernel: 'adam',
        inputs,
        outputs: [parameters, first, second],
        params: {
          ...shared,
          beta1: optimizer.beta1,
          beta2: optimizer.beta2,
          epsilon: optimizer.epsilon,
          decoupled: decoupled ? 1 : 0,
          ...tail,
          // Decay goes by the rate of the run, not by that of the group.
          weightDecay: decoupled ? optimizer.weightDecay / rate : optimizer.weightDecay,
          scheduled: schedule.regularisation === 'flat_cosine' ? 1 : 0,
        },
      };
    }
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
}
