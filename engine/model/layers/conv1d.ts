// One-dimensional convolution over positions: the windows side by side, then one product (Kim 2014 for texts). L positions, D values a position, F
// filters. As many positions as before: the ends are filled up with zeros, as is what stands behind the last token.

import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { eachPosition } from './dense.ts';

export const conv1d = defineLayer({
  type: 'conv1d',
  title: 'Conv 1D',
  summary: 'Slides filters along a sequence: each looks at a few neighbouring positions.',
  group: 'text',
  positions: 'keeps',
  looksAhead: ({ causal, kernel }) => !causal && kernel > 1,
  fields: layerFields({
    filters: {
      kind: 'number',
      whole: true,
      label: 'Filters',
      help: 'values it gives at each position',
      minimum: 1,
      maximum: 65536,
      default: 128,
    },
    kernel: {
      kind: 'number',
      whole: true,
      label: 'Kernel size',
      help: 'positions a filter looks at',
      minimum: 1,
      maximum: 255,
      default: 3,
    },
    dilation: {
      kind: 'number',
      whole: true,
      label: 'Dilation',
      help: 'how far apart these positions are',
      minimum: 1,
      maximum: 4096,
      default: 1,
      advanced: true,
    },
    causal: {
      kind: 'switch',
      label: 'Causal',
      help: 'whether a position sees only itself and those before it',
      default: false,
    },
    ...activationFields('relu'),
    bias: { kind: 'switch', label: 'Bias', help: 'whether each filter adds a number of its own', default: true },
  }),
  shape: ([input], { filters }, { positions }) => {
    if (positions === null) {
      throw new ModelError('Conv 1D needs a sequence.', 'Add a Token embedding or a Sequence layer before it.');
    }
    return [input[0], filters];
  },
  parameters: ([[, width]], { filters, kernel, bias }) => {
    const initializer = { kind: 'uniform_fan_in', fanIn: kernel * width } as const;
    return [
      { name: 'weight', shape: [kernel * width, filters], initializer, decay: true },
      ...(bias ? [{ name: 'bias', shape: [filters], initializer, decay: false }] : []),
    ];
  },
  build: ({ graph, args, tensor, lengths }, [x]) => {
    const { kernel: taps, dilation, causal, bias } = args;
    const reach = (taps - 1) * dilation;
    const before = causal ? reach : Math.floor(reach / 2);
    const windows = graph.one('unfold', [x, lengths()], { taps, before, dilation });
    return eachPosition(graph, windows, (rows) => {
      const operands = [rows, tensor('weight'), bias ? tensor('bias') : null];
      return activated(graph, graph.one('dense', operands, { activation: 'none', slope: 0 }), args);
    });
  },
  flops: ([input], _, { filters, kernel }) => 2 * sizeOf(input) * kernel * filters,
});
