// Batch norm (statistics over the batch, running ones at inference), layer norm and RMS norm (statistics over each example) and group norm
// (over groups of channels of each example).

import type { Shape } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type ParameterDef, type Positions } from '../layer.ts';

const varianceFields = layerFields({
  epsilon: {
    kind: 'number',
    label: 'Epsilon',
    help: 'added to the variance, or to the mean square',
    minimum: 1e-12,
    maximum: 1,
    default: 1e-5,
  },
});

const scaleAndShift = (width: number): readonly ParameterDef[] => [
  { name: 'weight', shape: [width], initializer: { kind: 'constant', value: 1 }, decay: false },
  { name: 'bias', shape: [width], initializer: { kind: 'constant', value: 0 }, decay: false },
];

/** Values that are normalised together stand in one row. Throws ModelError for a picture. */
function featuresOf(input: Shape, positions: Positions | null, what: string): Shape {
  if (input.length === 1 || positions !== null) return input;
  throw new ModelError(
    `${what} needs a flat input, got ${input.join(' × ')}.`,
    'Add a Flatten layer before it, or use Group norm with one group.',
  );
}

export const batchNorm = defineLayer({
  type: 'batch_norm',
  title: 'Batch norm',
  summary: 'Standardises each feature (or channel) over the batch, then scales and shifts it.',
  group: 'normalisation',
  fields: layerFields({
    ...varianceFields,
    momentum: {
      kind: 'number',
      label: 'Momentum',
      help: 'share of the new batch in the running statistics',
      minimum: 0.0001,
      maximum: 1,
      default: 0.1,
    },
  }),
  shape: ([input]) => input,
  parameters: ([input]) => scaleAndShift(input[0]),
  states: ([input]) => [
    { name: 'running_mean', shape: [input[0]], initial: 0 },
    { name: 'running_var', shape: [input[0]], initial: 1 },
  ],
  build: ({ graph, mode, args, tensor, stateName }, [x]) => {
    const [gamma, beta, e] = [tensor('weight'), tensor('bias'), args.epsilon];
    if (mode === 'inference') {
      const inputs = [x, gamma, beta, tensor('running_mean'), tensor('running_var')];
      return graph.one('batch_norm_inference', inputs, { epsilon: e });
    }
    return graph.apply('batch_norm', [x, gamma, beta], {
      epsilon: e,
      momentum: args.momentum,
      runningMean: stateName('running_mean'),
      runningVariance: stateName('running_var'),
      activation: 'none',
      slope: 0,
    })[0];
  },
  flops: ([input]) => 8 * sizeOf(input),
});

export const layerNorm = defineLayer({
  type: 'layer_norm',
  title: 'Layer norm',
  summary: 'Standardises the features of each example, then scales and shifts them.',
  group: 'normalisation',
  positions: 'keeps',
  fields: varianceFields,
  shape: ([input], _, { positions }) => featuresOf(input, positions, 'Layer norm'),
  parameters: ([input]) => scaleAndShift(input[input.length - 1]),
  build: ({ graph, args, tensor }, [x]) =>
    graph.apply('layer_norm', [x, tensor('weight'), tensor('bias')], { epsilon: args.epsilon })[0],
  flops: ([input]) => 8 * sizeOf(input),
});

export const rmsNorm = defineLayer({
  type: 'rms_norm',
  title: 'RMS norm',
  summary:
    'Divides the features of each example by their root mean square, then scales them: layer norm without the mean.',
  group: 'normalisation',
  positions: 'keeps',
  fields: varianceFields,
  shape: ([input], _, { positions }) => featuresOf(input, positions, 'RMS norm'),
  parameters: ([input]) => scaleAndShift(input[input.length - 1]).slice(0, 1),
  build: ({ graph, args, tensor }, [x]) => graph.apply('rms_norm', [x, tensor('weight')], { epsilon: args.epsilon })[0],
  flops: ([input]) => 5 * sizeOf(input),
});

export const groupNorm = defineLayer({
  type: 'group_norm',
  title: 'Group norm',
  summary: 'Standardises groups of channels of each example: independent of the batch, for small batches.',
  group: 'normalisation',
  fields: layerFields({
    groups: {
      kind: 'number',
      whole: true,
      label: 'Groups',
      help: 'groups of channels, each standardised by itself',
      minimum: 1,
      maximum: 4096,
      default: 8,
    },
    ...varianceFields,
  }),
  shape: ([input], { groups }) => {
    if (input[0] % groups !== 0) {
      throw new ModelError(
        `Group norm: ${groups} groups do not divide ${input[0]} channels.`,
        'The number of channels has to be a multiple of the number of groups.',
      );
    }
    return input;
  },
  parameters: ([input]) => scaleAndShift(input[0]),
  build: ({ graph, args, tensor }, [x]) =>
    graph.apply('group_norm', [x, tensor('weight'), tensor('bias')], {
      groups: args.groups,
      epsilon: args.epsilon,
    })[0],
  flops: ([input]) => 8 * sizeOf(input),
});
