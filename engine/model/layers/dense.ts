// Dense (fully connected) layer, and the output layer, which is a dense layer as wide as the target needs.

import type { Shape, ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext, type ParameterDef } from '../layer.ts';
import { activated, activationFields } from './activation.ts';

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

function buildDense({ graph, tensor }: LayerBuildContext<unknown>, x: ValueId, bias: boolean): ValueId {
  return graph.one('dense', [x, tensor('weight'), bias ? tensor('bias') : null], { activation: 'none', slope: 0 });
}

export const dense = defineLayer({
  type: 'dense',
  title: 'Dense',
  summary: 'Every unit is a weighted sum of all inputs, followed by an activation.',
  group: 'core',
  fields: layerFields({
    units: {
      kind: 'number',
      whole: true,
      label: 'Units',
      help: 'values it gives',
      minimum: 1,
      maximum: 65536,
      default: 64,
    },
    ...activationFields('relu'),
    bias: { kind: 'switch', label: 'Bias', help: 'whether each unit adds a number of its own', default: true },
  }),
  shape: ([input], args) => {
    flatWidth(input, 'Dense');
    return [args.units];
  },
  parameters: ([input], args) => denseParameters(input[0], args.units, args.bias),
  build: (context, [x]) => activated(context.graph, buildDense(context, x, context.args.bias), context.args),
  flops: ([input], [units]) => 2 * input[0] * units,
});

export const output = defineLayer({
  type: 'output',
  title: 'Output',
  summary: 'One unit a class, or one for a number. Its width follows the target.',
  group: 'core',
  fields: {},
  shape: ([input], _, { outputs }) => {
    flatWidth(input, 'Output');
    return [outputs];
  },
  parameters: ([input], _, { outputs }) => denseParameters(input[0], outputs, true),
  build: (context, [x]) => buildDense(context, x, true),
  flops: ([input], [units]) => 2 * input[0] * units,
});
