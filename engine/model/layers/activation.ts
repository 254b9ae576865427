// Activation as a layer of its own, and the arguments other layers offer for it.

import type { ActivationName } from '../../../kernels/activations.ts';
import type { GraphBuilder, ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { defineLayer, layerFields } from '../layer.ts';

/** What a person may choose; the others belong to layers that need them. */
type OfferedActivation = Exclude<ActivationName, 'cosine' | 'log' | 'soft_clip'>;

const words = {
  none: 'no activation',
  relu: 'ReLU',
  leaky_relu: 'Leaky ReLU',
  gelu: 'GELU',
  silu: 'SiLU',
  tanh: 'tanh',
  sigmoid: 'sigmoid',
  mish: 'Mish',
  selu: 'SELU',
  relu6: 'ReLU6',
  gelu_tanh: 'GELU (tanh)',
} satisfies Record<OfferedActivation, string>;

/** Which activation, and what only one of them needs. */
export const activationFields = (usual: OfferedActivation) =>
  layerFields({
    activation: {
      kind: 'choice',
      label: 'Activation',
      help: 'what bends the values of the layer',
      choices: words,
      default: usual,
    },
    slope: {
      kind: 'number',
      label: 'Negative slope',
      help: 'what is left of a negative value',
      minimum: 0,
      maximum: 1,
      when: { activation: ['leaky_relu'] },
      default: 0.01,
    },
  });

interface Activated {
  readonly activation: ActivationName;
  readonly slope: number;
}

/** The values bent as the arguments say. */
export function activated(graph: GraphBuilder, x: ValueId, { activation, slope }: Activated): ValueId {
  return activation === 'none' ? x : graph.one('activation', [x], { activation, slope });
}

export const activation = defineLayer({
  type: 'activation',
  title: 'Activation',
  summary: 'Bends each value: without it, layers in a row would be no more than one.',
  group: 'activation',
  positions: 'keeps',
  fields: activationFields('relu'),
  shape: ([input]) => input,
  build: ({ graph, args }, [x]) => activated(graph, x, args),
  flops: ([input]) => sizeOf(input),
});
