// First values and rates of the weights of dense layers, of a network's own and of each member's.

import { layerFields, type ParameterDef } from '../layer.ts';

export const parametrisationFields = layerFields({
  parametrisation: {
    kind: 'choice',
    label: 'Parametrisation',
    help: 'how first weights and their steps depend on the number of inputs; NTK: both go by its root, which stands high learning rates',
    advanced: true,
    choices: { standard: 'Standard', ntk: 'NTK' },
    default: 'standard',
  },
});

/** What weights and biases there are of a dense layer: [inputs, units] and [units], of members [members, inputs, units] and [members, 1, units]. */
export interface DenseParameters {
  readonly inputs: number;
  readonly units: number;
  /** Each has weights of its own. */
  readonly members?: number;
  readonly bias: boolean;
  readonly parametrisation: 'standard' | 'ntk';
  /** NTK: what first values are times; default 1. */
  readonly first?: { readonly weight: number; readonly bias: number };
}

/**
 * The neural tangent parametrisation (Jacot et al. 2018) trains V of W = V/√I. Adam's steps do not depend on the size of gradients: so W
 * itself is trained, with the learning rate over √I. Biases learn a tenth as fast, as in RealMLP.
 */
export function denseParameters(of: DenseParameters): readonly ParameterDef[] {
  const { inputs, units, members, bias, parametrisation, first = { weight: 1, bias: 1 } } = of;
  const root = Math.sqrt(inputs);
  const ntk = parametrisation === 'ntk';
  const usual = ntk
    ? ({ kind: 'normal', deviation: first.weight / root } as const)
    : ({ kind: 'uniform_fan_in', fanIn: inputs } as const);
  const weight: ParameterDef = {
    name: 'weight',
    shape: members === undefined ? [inputs, units] : [members, inputs, units],
    initializer: usual,
    decay: true,
    ...(ntk ? { rate: 1 / root } : {}),
  };
  if (!bias) return [weight];
  const about: Pick<ParameterDef, 'initializer' | 'rate'> = ntk
    ? { initializer: { kind: 'normal', deviation: first.bias }, rate: 0.1 }
    : { initializer: usual };
  const shape = members === undefined ? [units] : [members, 1, units];
  return [weight, { name: 'bias', shape, decay: false, ...about }];
}
