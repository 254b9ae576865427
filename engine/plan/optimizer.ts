// The optimizer's part of a training program: one call over all parameters at once, or one for each factor of the learning rate.

import { scalingSize } from '../../kernels/optimizer.ts';
import { reserved, type LoweredCall, type LoweredOperand } from '../graph/op.ts';
import { bandName, scalarsName, type ReservedTensor } from '../graph/tensors.ts';
import { optimizerStates } from '../model/summary.ts';
import type { TrainingSpec } from '../model/spec.ts';
import type { ParameterGroup, ParameterLayout } from './layout.ts';
import { lossScaleTensor, type StepOptions } from './step.ts';

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

export const partialsTensor = { name: 'optimizer.partials', shape: [normChunks] } as const;
export const scalingTensor = { name: 'optimizer.scaling', shape: [scalingSize] } as const;
/** What a run with a scaled loss keeps beside the optimizer's state. */
export const lossScaleTensors = [lossScaleTensor.name, scalingTensor.name] as const;
/** Steps without overflow after which the scale of the loss doubles. */
const scaleInterval = 200;

/** What the update depends on. */
export interface UpdateOptions extends Pick<StepOptions, 'stepCapacity' | 'halfStorage'> {
  readonly training: Pick<TrainingSpec, 'optimizer' | 'clipNorm' | 'schedule'>;
  /** Which gradients it reads: `gradients` unless told otherwise. */
  readonly gradients?: 'gradients' | 'gradients.sum';
  /** It writes parameters a second time, in 16 bits. */
  readonly copies?: boolean;
}

/** The update: one call for each factor of the learning rate; the gradient's norm before, where it is clipped or may be infinite. */
export function optimizerCalls(options: UpdateOptions, { count, groups }: ParameterLayout): readonly LoweredCall[] {
  const { training, halfStorage, gradients = 'gradients' } = options;
  const whole = groups.length === 1;
  const updates = groups.flatMap((group, index) =>
    whole
      ? [updateCall(options, { ...group, count }, null)]
      : group.count > 0
        ? [updateCall(options, group, index)]
        : [],
  );
  if (training.clipNorm === 0 && !halfStorage) return updates;
  const partials = reserved(partialsTensor.name);
  const norm: LoweredCall = {
    kernel: 'sum_squares',
    inputs: [reserved(gradients)],
    outputs: [partials],
    params: { count, chunks: normChunks },
  };
  if (!halfStorage) return [norm, ...updates];
  const { beta1, beta2 } = training.optimizer;
  const scale: LoweredCall = {
    kernel: 'loss_scale',
    inputs: [partials],
    outputs: lossScaleTensors.map(reserved),
    params: { chunks: normChunks, beta1, beta2, interval: scaleInterval },
  };
  return [norm, scale, ...updates];
}

/** `band`: number of the group; null = all parameters. */
function updateCall(
  { training, stepCapacity: steps, halfStorage, gradients = 'gradients', copies }: UpdateOptions,
  { rate, count, decayCount }: ParameterGroup,
  band: number | null,
): LoweredCall {
  const { optimizer, clipNorm, schedule } = training;
  const named = (tensor: ReservedTensor): LoweredOperand => reserved(band === null ? tensor : bandName(tensor, band));
  const [first = null, second = null] = optimizerStateNames(optimizer).map(named);
  const partials = clipNorm > 0 ? reserved(partialsTensor.name) : null;
  const scaling = halfStorage ? reserved(scalingTensor.name) : null;
  const inputs = [named(gradients), reserved(scalarsName(band ?? 0)), partials, scaling];
  const parameters = named('parameters');
  const copied = copies ? named('parameters.half') : null;
  const shared = { count, decayCount };
  const tail = { weightDecay: optimizer.weightDecay, clip: clipNorm, chunks: normChunks, steps };
  switch (optimizer.name) {
    case 'adam':
    case 'adamw': {
      const decoupled = optimizer.name === 'adamw';
      return {
        kernel: 'adam',
        inputs,
        outputs: [parameters, first, second, copied],
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
        outputs: [parameters, first, copied],
        params: { ...shared, momentum: optimizer.momentum, nesterov: optimizer.nesterov ? 1 : 0, ...tail },
      };
    case 'rmsprop':
      return {
        kernel: 'rmsprop',
        inputs,
        outputs: [parameters, first, second, copied],
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
