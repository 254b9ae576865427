// Dense (fully connected) layer, and the output layer, which is a dense layer as wide as the target needs.

import type { GraphBuilder, Shape, ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { buildMemberOutput } from './members.ts';
import { denseParameters, parametrisationFields } from './parametrisation.ts';

/** Values of a flat input. Throws ModelError where `what` is given another. */
export function flatWidth(input: Shape, what: string): number {
  if (input.length !== 1) {
    throw new ModelError(
      `${what} needs a flat input, got ${input.join(' × ')}.`,
      'Add a Flatten or Global average pool layer before it.',
    );
  }
  return input[0];
}

function buildDense({ graph, tensor }: LayerBuildContext<unknown>, x: ValueId, bias: boolean): ValueId {
  return graph.one('dense', [x, tensor('weight'), bias ? tensor('bias') : null], { activation: 'none', slope: 0 });
}

/** x [N,L,D] position by position: what `build` makes of its rows [N·L,D] as [N,L,U]. */
export function eachPosition(graph: GraphBuilder, x: ValueId, build: (rows: ValueId) => ValueId): ValueId {
  const [batch, length, width] = graph.shape(x);
  const made = build(graph.one('reshape', [x], { shape: [batch * length, width] }));
  return graph.one('reshape', [made], { shape: [batch, length, graph.shape(made)[1]] });
}

export const dense = defineLayer({
  type: 'dense',
  title: 'Dense',
  summary: 'Every unit is a weighted sum of all inputs, followed by an activation; of a sequence, at each position.',
  group: 'core',
  positions: 'keeps',
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
  shape: ([input], args, { positions }) => {
    if (positions !== null) return [input[0], args.units];
    flatWidth(input, 'Dense');
    return [args.units];
  },
  parameters: ([input], { units, ...args }) => denseParameters({ inputs: input[input.length - 1], units, ...args }),
  build: (context, [x]) => {
    const { graph, args } = context;
    const units = (rows: ValueId): ValueId => activated(graph, buildDense(context, rows, args.bias), args);
    return graph.shape(x).length === 2 ? units(x) : eachPosition(graph, x, units);
  },
  flops: ([input], _, { units }) => 2 * sizeOf(input) * units,
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
  // Of members, each has weights of its own.
  parameters: ([input], { parametrisation }, { outputs: units }) => {
    const [inputs, members] = input.length === 2 ? [input[1], input[0]] : input;
    return denseParameters({ inputs, units, members, bias: true, parametrisation, first: unsure });
  },
  build: (context, [x]) =>
    context.graph.shape(x).length === 3 ? buildMemberOutput(context, x) : buildDense(context, x, true),
  flops: ([input], [units]) => 2 * sizeOf(input) * units,
});
