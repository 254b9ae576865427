// An ensemble within one network: members that share weights and differ by factors of what goes in and comes out of them
// (BatchEnsemble, Wen et al. 2020; TabM, Gorishniy et al. 2024, arXiv 2410.24210). B rows, M members, I inputs, U units.

import type { ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { denseParameters, parametrisationFields } from './parametrisation.ts';

export const members = defineLayer({
  type: 'members',
  title: 'Members',
  summary:
    'Splits the network into members of an ensemble: each sees the values with signs of its own, or a part of them.',
  group: 'core',
  fields: layerFields({
    members: {
      kind: 'number',
      whole: true,
      label: 'Members',
      help: 'members of the ensemble',
      minimum: 2,
      maximum: 256,
      default: 32,
    },
    sees: {
      kind: 'choice',
      label: 'Each sees',
      help: 'what a member sees: all values, with signs of its own; or its part of them, which are then dealt out evenly',
      choices: { all: 'All values', part: 'Its part' },
      default: 'all',
    },
  }),
  shape: ([input], { members: count, sees }) => {
    if (input.length !== 1) {
      throw new ModelError(`Members needs a flat input, got ${input.join(' × ')}.`, 'Add a Flatten layer before it.');
    }
    if (sees === 'all') return [count, input[0]];
    if (input[0] % count === 0) return [count, input[0] / count];
    const units = Math.ceil(input[0] / count) * count;
    throw new ModelError(
      `Members deals out ${input[0]} values to ${count} members, which is not even.`,
      `Give the layer before it ${units} units.`,
    );
  },
  parameters: ([[inputs]], { members: count, sees }) =>
    sees === 'part' ? [] : [{ name: 'factor', shape: [count, inputs], initializer: { kind: 'signs' }, decay: false }],
  build: ({ graph, tensor, args }, [x]) => {
    const [batch, width] = graph.shape(x);
    if (args.sees === 'part') {
      return graph.one('reshape', [x], { shape: [batch, args.members, width / args.members] });
    }
    return graph.one('mul', [graph.one('reshape', [x], { shape: [batch, 1, width] }), tensor('factor')], {});
  },
  flops: (_, [count, width], { sees }) => (sees === 'part' ? 0 : count * width),
});

/** Weighted sums of x [B, M, I] by each member's own weights [M, I, U]: [B, M, U]. */
function ownSums({ graph, tensor }: LayerBuildContext<unknown>, x: ValueId): ValueId {
  const byMember = graph.one('transpose', [x], { permutation: [1, 0, 2] });
  const plain = { transposeA: false, transposeB: false, scale: 1 };
  const product = graph.one('matmul', [byMember, tensor('weight')], plain);
  return graph.one('transpose', [graph.one('add', [product, tensor('bias')], {})], { permutation: [1, 0, 2] });
}

export const memberDense = defineLayer({
  type: 'member_dense',
  title: 'Member dense',
  summary:
    'A dense layer whose weights all members share, each with factors for its inputs and units and biases of its own; or with weights of its own.',
  group: 'core',
  fields: layerFields({
    units: {
      kind: 'number',
      whole: true,
      label: 'Units',
      help: 'values it gives each member',
      minimum: 1,
      maximum: 65536,
      default: 128,
    },
    ...activationFields('relu'),
    weights: {
      kind: 'choice',
      label: 'Weights',
      help: 'whether members share their weights, but for factors, or each has its own: as many networks as members',
      choices: { shared: 'Shared', own: 'Its own' },
      default: 'shared',
    },
    parametrisation: { ...parametrisationFields.parametrisation, when: { weights: ['own'] } },
  }),
  shape: ([input], { units }) => {
    if (input.length === 2) return [input[0], units];
    throw new ModelError('Member dense needs members.', 'Add a Members layer before it.');
  },
  parameters: ([[count, inputs]], { units, weights, parametrisation }) => {
    if (weights === 'own') return denseParameters({ inputs, units, members: count, bias: true, parametrisation });
    const initializer = { kind: 'uniform_fan_in', fanIn: inputs } as const;
    const one = { kind: 'constant', value: 1 } as const;
    return [
      { name: 'weight', shape: [inputs, units], initializer, decay: true },
      { name: 'input_factor', shape: [count, inputs], initializer: one, decay: false },
      { name: 'unit_factor', shape: [count, units], initializer: one, decay: false },
      { name: 'bias', shape: [count, units], initializer, decay: false },
    ];
  },
  build: (context, [x]) => {
    const { graph, tensor, args } = context;
    if (args.weights === 'own') return activated(graph, ownSums(context, x), args);
    const [batch, count, inputs] = graph.shape(x);
    const scaled = graph.one('mul', [x, tensor('input_factor')], {});
    const rows = graph.one('reshape', [scaled], { shape: [batch * count, inputs] });
    const product = graph.one('dense', [rows, tensor('weight'), null], { activation: 'none', slope: 0 });
    const byMember = graph.one('reshape', [product], { shape: [batch, count, args.units] });
    const units = graph.one('add', [graph.one('mul', [byMember, tensor('unit_factor')], {}), tensor('bias')], {});
    return activated(graph, units, args);
  },
  flops: ([[count, inputs]], [, units], { weights }) =>
    count * (2 * inputs * units + (weights === 'own' ? 0 : inputs + 2 * units)),
});

/**
 * While training the outputs of each member, [B, M, outputs]; else one answer [B, outputs]: the mean of the numbers, or the logarithm
 * of the mean of the shares that the classes have, which softmax turns into that mean. A single logit counts as a number.
 */
export function buildMemberOutput(context: LayerBuildContext<unknown>, x: ValueId): ValueId {
  const { graph, mode } = context;
  const sums = ownSums(context, x);
  if (mode === 'train') return sums;
  const mean = (values: ValueId): ValueId => graph.one('mean', [values], { axes: [1], keep: false });
  if (graph.shape(sums)[2] === 1) return mean(sums);
  return graph.one('activation', [mean(graph.one('softmax', [sums], {}))], { activation: 'log', slope: 0 });
}
