// Dense layer with a gate: GLU (Dauphin et al. 2017) and its kin (Shazeer, "GLU Variants Improve Transformer", 2020), of which SwiGLU has SiLU
// at the gate. With a dense layer behind it, it is the feed-forward part of Llama's blocks.

import type { ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { defineLayer, layerFields } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { eachPosition, flatWidth } from './dense.ts';

export const gatedDense = defineLayer({
  type: 'gated_dense',
  title: 'Gated dense',
  summary:
    'Two dense layers side by side, of which one, bent, is a gate for the other: with SiLU the wide half of SwiGLU.',
  group: 'core',
  positions: 'keeps',
  fields: layerFields({
    units: {
      kind: 'number',
      whole: true,
      label: 'Units',
      help: 'values it gives; its weights are twice those of a dense layer',
      minimum: 1,
      maximum: 32768,
      default: 64,
    },
    ...activationFields('silu'),
    bias: {
      kind: 'switch',
      label: 'Bias',
      help: 'whether each unit and each gate adds a number of its own',
      default: true,
    },
  }),
  shape: ([input], { units }, { positions }) => {
    if (positions !== null) return [input[0], units];
    flatWidth(input, 'Gated dense');
    return [units];
  },
  // Gates stand in front: one product for both.
  parameters: ([input], { units, bias }) => {
    const inputs = input[input.length - 1];
    const initializer = { kind: 'uniform_fan_in', fanIn: inputs } as const;
    return [
      { name: 'weight', shape: [inputs, 2 * units], initializer, decay: true },
      ...(bias
        ? [{ name: 'bias', shape: [2 * units], initializer: { kind: 'constant', value: 0 }, decay: false } as const]
        : []),
    ];
  },
  build: ({ graph, args, tensor }, [x]) => {
    const { units: size, bias } = args;
    const gated = (rows: ValueId): ValueId => {
      const operands = [rows, tensor('weight'), bias ? tensor('bias') : null];
      const both = graph.one('dense', operands, { activation: 'none', slope: 0 });
      const [gates, values] = [0, size].map((offset) => graph.one('slice', [both], { axis: 1, offset, size }));
      return graph.one('mul', [activated(graph, gates, args), values], {});
    };
    return graph.shape(x).length === 2 ? gated(x) : eachPosition(graph, x, gated);
  },
  flops: ([input], output, { units }) => 4 * sizeOf(input) * units + 2 * sizeOf(output),
});
