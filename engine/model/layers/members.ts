// An ensemble within one network: members that share weights and differ by factors of what goes in and comes out of them
// (BatchEnsemble, Wen et al. 2020; TabM, Gorishniy et al. 2024, arXiv 2410.24210). B rows, M members, I inputs, U units.

import type { ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext, type ParameterDef } from '../layer.ts';
import { activated, activationFields } from './activation.ts';

export const members = defineLayer({
  type: 'members',
  title: 'Members',
  summary: 'Splits the network into members of an ensemble: each sees the values with signs of its own.',
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
  }),
  shape: ([input], { members: count }) => {
    if (input.length === 1) return [count, input[0]];
    throw new ModelError(`Members needs a flat input, got ${input.join(' × ')}.`, 'Add a Flatten layer before it.');
  },
  parameters: ([[inputs]], { members: count }) => [
    { name: 'factor', shape: [count, inputs], initializer: { kind: 'signs' }, decay: false },
  ],
  build: ({ graph, tensor }, [x]) => {
    const [batch, width] = graph.shape(x);
    return graph.one('mul', [graph.one('reshape', [x], { shape: [batch, 1, width] }), tensor('factor')], {});
  },
  flops: (_, [count, width]) => count * width,
});

export const memberDense = defineLayer({
  type: 'member_dense',
  title: 'Member dense',
  summary:
    'A dense layer whose weights all members share; each has factors for its inputs and units, and biases of its own.',
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
  }),
  shape: ([input], { units }) => {
    if (input.length === 2) return [input[0], units];
    throw new ModelError('Member dense needs members.', 'Add a Members layer before it.');
  },
  parameters: ([[count, inputs]], { units }) => {
    const initializer = { kind: 'uniform_fan_in', fanIn: inputs } as const;
    const one = { kind: 'constant', value: 1 } as const;
    return [
      { name: 'weight', shape: [inputs, units], initializer, decay: true },
      { name: 'input_factor', shape: [count, inputs], initializer: one, decay: false },
      { name: 'unit_factor', shape: [count, units], initializer: one, decay: false },
      { name: 'bias', shape: [count, units], initializer, decay: false },
    ];
  },
  build: ({ graph, tensor, args }, [x]) => {
    const [batch, count, inputs] = graph.shape(x);
    const scaled = graph.one('mul', [x, tensor('input_factor')], {});
    const rows = graph.one('reshape', [scaled], { shape: [batch * count, inputs] });
    const product = graph.one('dense', [rows, tensor('weight'), null], { activation: 'none', slope: 0 });
    const byMember = graph.one('reshape', [product], { shape: [batch, count, args.units] });
    const units = graph.one('add', [graph.one('mul', [byMember, tensor('unit_factor')], {}), tensor('bias')], {});
    return activated(graph, units, args);
  },
  flops: ([[count, inputs]], [, units]) => count * (2 * inputs * units + inputs + 2 * units),
});

/** The output of members [M, I]: each has weights of its own. */
export function memberOutputParameters([count, inputs]: readonly number[], outputs: number): readonly ParameterDef[] {
  const initializer = { kind: 'uniform_fan_in', fanIn: inputs } as const;
  return [
    { name: 'weight', shape: [count, inputs, outputs], initializer, decay: true },
    { name: 'bias', shape: [count, 1, outputs], initializer, decay: false },
  ];
}

/**
 * While training the outputs of each member, [B, M, outputs]; else one answer [B, outputs]: the mean of the numbers, or the logarithm
 * of the mean of the shares that the classes have, which softmax turns into that mean. A single logit counts as a number.
 */
export function buildMemberOutput({ graph, tensor, mode }: LayerBuildContext<unknown>, x: ValueId): ValueId {
  const byMember = graph.one('transpose', [x], { permutation: [1, 0, 2] });
  const plain = { transposeA: false, transposeB: false, scale: 1 };
  const product = graph.one('matmul', [byMember, tensor('weight')], plain);
  const sums = graph.one('transpose', [graph.one('add', [product, tensor('bias')], {})], { permutation: [1, 0, 2] });
  if (mode === 'train') return sums;
  const mean = (values: ValueId): ValueId => graph.one('mean', [values], { axes: [1], keep: false });
  if (graph.shape(sums)[2] === 1) return mean(sums);
  return graph.one('activation', [mean(graph.one('softmax', [sums], {}))], { activation: 'log', slope: 0 });
}
