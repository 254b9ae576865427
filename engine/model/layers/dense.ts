// Dense (fully connected) layer, and the output layer, which is a dense layer as wide as the target needs.

import type { ActivationName } from '../../../kernels/activations.ts';
import type { Shape, ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import type { LayerBuildContext, LayerDef, ParameterDef } from '../layer.ts';
import { activationField, slopeField } from './activation.ts';

function flatWidth(input: Shape, what: string): number {
  if (input.length !== 1) {
    throw new ModelError(
      `${what} needs a flat input, got ${input.join(' × ')}.`,
      'Add a Flatten or Global average pool layer before it.',
    );
  }
  return input[0];
}

function denseParameters(inputs: number, units: number, bias: boolean): readonly ParameterDef[] {
  const initializer = { kind: 'uniform_fan_in', fanIn: inputs } as const;
  const weight: ParameterDef = { name: 'weight', shape: [inputs, units], initializer, decay: true };
  return bias ? [weight, { name: 'bias', shape: [units], initializer, decay: false }] : [weight];
}

function buildDense({ graph, tensor }: LayerBuildContext, x: ValueId, bias: boolean): ValueId {
  return graph.one('dense', [x, tensor('weight'), bias ? tensor('bias') : null], { activation: 'none', slope: 0 });
}

export const dense: LayerDef = {
  type: 'dense',
  title: 'Dense',
  summary: 'Every unit is a weighted sum of all inputs, followed by an activation.',
  group: 'core',
  fields: [
    { kind: 'integer', name: 'units', label: 'Units', default: 64, minimum: 1, maximum: 65536 },
    activationField('relu'),
    slopeField,
    { kind: 'boolean', name: 'bias', label: 'Bias', default: true },
  ],
  shape: ([input], args) => {
    flatWidth(input, 'Dense');
    return [Number(args.units)];
  },
  parameters: ([input], args) => denseParameters(input[0], Number(args.units), Boolean(args.bias)),
  build: (context, [x]) => {
    const y = buildDense(context, x, Boolean(context.args.bias));
    const activation = context.args.activation as ActivationName;
    if (activation === 'none') return y;
    return context.graph.one('activation', [y], { activation, slope: Number(context.args.slope) });
  },
  flops: ([input], [units]) => 2 * input[0] * units,
};

export const output: LayerDef = {
  type: 'output',
  title: 'Output',
  summary: 'One unit a class, or one for a number. Its width follows the target.',
  group: 'core',
  fields: [],
  shape: ([input], _, { outputs }) => {
    flatWidth(input, 'Output');
    return [outputs];
  },
  parameters: ([input], _, { outputs }) => denseParameters(input[0], outputs, true),
  build: (context, [x]) => buildDense(context, x, true),
  flops: ([input], [units]) => 2 * input[0] * units,
};
