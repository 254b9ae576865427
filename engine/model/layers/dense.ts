// Dense (fully connected) layer, and the output layer, which is a dense layer as wide as the target needs.

import type { Shape, ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext, type ParameterDef } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { buildMemberOutput, memberOutputParameters } from './members.ts';

function flatWidth(input: Shape, what: string): number {
  if (input.length !== 1) {
    throw new ModelError(
      `${what} needs a flat input, got ${input.join(' × ')}.`,
      'Add a Flatten or Global average pool layer before it.',
    );
  }
  return input[0];
}

const parametrisationFields = layerFields({
  parametrisation: {
    kind: 'choice',
    label: 'Parametrisation',
    help: 'how first weights and their steps depend on the number of inputs; NTK: both go by its root, which stands high learning rates',
    advanced: true,
    choices: { standard: 'Standard', ntk: 'NTK' },
    default: 'standard',
  },
});
type Parametrisation = 'standard' | 'ntk';

/**
 * The neural tangent parametrisation (Jacot et al. 2018) trains V of W = V/√I. Adam's steps do not depend on the size of gradients: so W
 * itself is trained, with the learning rate over √I. Biases learn a tenth as fast, as in RealMLP.
 */
function denseParameters(
  inputs: number,
  units: number,
  bias: boolean,
  parametrisation: Parametrisation,
  first: { readonly weight: number; readonly bias: number } = { weight: 1, bias: 1 },
): readonly ParameterDef[] {
  const root = Math.sqrt(inputs);
  const ntk = parametrisation === 'ntk';
  const usual = ntk
    ? ({ kind: 'normal', deviation: first.weight / root } as const)
    : ({ kind: 'uniform_fan_in', fanIn: inputs } as const);
  const weight: ParameterDef = {
    name: 'weight',
    shape: [inputs, units],
    initializer: usual,
    decay: true,
    ...(ntk ? { rate: 1 / root } : {}),
  };
  if (!bias) return [weight];
  const about: Pick<ParameterDef, 'initializer' | 'rate'> = ntk
    ? { initializer: { kind: 'normal', deviation: first.bias }, rate: 0.1 }
    : { initializer: usual };
  return [weight, { name: 'bias', shape: [units], decay: false, ...about }];
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
    ...parametrisationFields,
  }),
  shape: ([input], args) => {
    flatWidth(input, 'Dense');
    return [args.units];
  },
  parameters: ([input], args) => denseParameters(input[0], args.units, args.bias, args.parametrisation),
  build: (context, [x]) => activated(context.graph, buildDense(context, x, context.args.bias), context.args),
  flops: ([input], [units]) => 2 * input[0] * units,
});

/** First outputs of a NTK layer close to 0: it is sure of nothing it cannot know yet. */
const unsure = { weight: 0.1, bias: 0 };

export const output = defineLayer({
  type: 'output',
  title: 'Output',
  summary: 'One unit a class, or one for a number. Its width follows the target.',
  group: 'core',
  fields: parametrisationFields,
  shape: ([input], _, { outputs }) => {
    if (input.length !== 2) flatWidth(input, 'Output');
    return [outputs];
  },
  parameters: ([input], { parametrisation }, { outputs }) =>
    input.length === 2
      ? memberOutputParameters(input, outputs)
      : denseParameters(input[0], outputs, true, parametrisation, unsure),
  build: (context, [x]) =>
    context.graph.shape(x).length === 3 ? buildMemberOutput(context, x) : buildDense(context, x, true),
  flops: ([input], [units]) => 2 * sizeOf(input) * units,
});
