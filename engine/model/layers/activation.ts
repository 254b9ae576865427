// Activation as a layer of its own, and the argument other layers offer for it.

import { activationCodes, type ActivationName } from '../../../kernels/activations.ts';
import { sizeOf } from '../../graph/op.ts';
import type { FieldDef, LayerDef } from '../layer.ts';

const names = Object.keys(activationCodes);

export const activationField = (initial: ActivationName): FieldDef => ({
  kind: 'choice',
  name: 'activation',
  label: 'Activation',
  default: initial,
  choices: names,
});

export const slopeField: FieldDef = {
  kind: 'number',
  name: 'slope',
  label: 'Negative slope',
  help: 'Only for leaky_relu.',
  default: 0.01,
  minimum: 0,
  maximum: 1,
};

export const activation: LayerDef = {
  type: 'activation',
  title: 'Activation',
  summary: 'Bends each value: without it, layers in a row would be no more than one.',
  group: 'activation',
  fields: [activationField('relu'), slopeField],
  shape: ([input]) => input,
  build: ({ graph, args }, [x]) =>
    args.activation === 'none'
      ? x
      : graph.one('activation', [x], { activation: args.activation as ActivationName, slope: Number(args.slope) }),
  flops: ([input]) => sizeOf(input),
};
