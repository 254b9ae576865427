// How each layer reads in PyTorch: the module it needs, if any, and the line that applies it. Every layer of the registry has to be here
// (tests/unit/export-formats.test.ts).

import { cellGates, type Cell } from '../../../kernels/recurrence-shape.ts';
import type { ResolvedLayer } from '../../model/resolve.ts';
import {
  memberDenseSource,
  memberOutputSource,
  membersSource,
  numberEmbeddingSource,
  ownDenseSource,
  robustScaleSource,
  scaleSource,
} from './table-layers.ts';
import {
  attendedSource,
  attentionSource,
  conv1dSource,
  gatedDenseSource,
  lengthsOf,
  patchesSource,
  poolPositionsSource,
  positionEmbeddingSource,
  realSource,
  recurrentSource,
  tokenEmbeddingSource,
  tokensOfSource,
  wavesSource,
} from './sequence-layers.ts';

/** Python of a layer. `x`: names of its inputs; `m`: an expression for its module; `source`: classes and functions it needs. */
export interface TorchLayer {
  readonly source?: (layer: ResolvedLayer) => string | readonly string[];
  readonly module?: (layer: ResolvedLayer) => string | undefined;
  /** Its module keeps the weight, if that is a matrix, as [out,in]. */
  readonly turned?: true;
  /** The first PyTorch that has its module, where that is later than what every project asks for. */
  readonly since?: string;
  readonly forward: (layer: ResolvedLayer, x: readonly string[], m: string) => string;
}

interface Arguments {
  readonly activation: string;
  readonly slope: number;
  readonly [name: string]: unknown;
}

const args = ({ args: found }: ResolvedLayer): Arguments => found as Arguments;
const bool = (value: unknown): string => (value ? 'True' : 'False');

function activated({ activation, slope }: Arguments, x: string): string {
  if (activation === undefined || activation === 'none') return x;
  if (activation === 'leaky_relu') return `F.leaky_relu(${x}, ${slope})`;
  if (activation === 'gelu_tanh') return `F.gelu(${x}, approximate="tanh")`;
  return activation === 'tanh' || activation === 'sigmoid' ? `torch.${activation}(${x})` : `F.${activation}(${x})`;
}

function convolution(kind: string, layer: ResolvedLayer): string {
  const { filters, kernel, stride, padding, outputPadding, dilation, groups, bias } = args(layer);
  const more = kind === 'ConvTranspose2d' ? `, output_padding=${String(outputPadding)}` : '';
  return `nn.${kind}(${layer.inputShapes[0][0]}, ${String(filters)}, ${String(kernel)}, stride=${String(stride)}, padding=${String(padding)}${more}, dilation=${String(dilation)}, groups=${String(groups)}, bias=${bool(bias)})`;
}

const pool =
  (kind: string): TorchLayer['forward'] =>
  (layer, [x]) => {
    const { size, stride, padding } = args(layer);
    return `F.${kind}(${x}, ${String(size)}, stride=${String(stride)}, padding=${String(padding)})`;
  };

const recurrent = (cell: Cell): TorchLayer => ({
  source: () => [realSource, recurrentSource],
  module: (layer) =>
    `Recurrent(${cellGates[cell]}, ${layer.inputShapes[0][1]}, ${String(args(layer)['units'])}, "${String(args(layer)['direction'])}")`,
  forward: (layer, [x], m) => `${m}(${x}, ${lengthsOf(layer)})`,
});

const applied: TorchLayer['forward'] = (layer, [x], m) => activated(args(layer), `${m}(${x})`);

export const torchLayers: Readonly<Record<string, TorchLayer>> = {
  dense: {
    turned: true,
    module: (layer) =>
      `nn.Linear(${layer.inputShapes[0].at(-1)!}, ${layer.outputShape.at(-1)!}, bias=${bool(args(layer).bias)})`,
    forward: applied,
  },
  gated_dense: {
    source: () => gatedDenseSource,
    module: (layer) =>
      `GatedDense(${layer.inputShapes[0].at(-1)!}, ${layer.outputShape.at(-1)!}, ${bool(args(layer).bias)})`,
    forward: (layer, [x], m) => `${m}(${x}, lambda gates: ${activated(args(layer), 'gates')})`,
  },
  robust_scale: {
    source: () => robustScaleSource,
    module: (layer) => `RobustScale(${layer.inputShapes[0][0]}, ${String(args(layer)['limit'])})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  scale: {
    source: () => scaleSource,
    module: (layer) => `Scale(${layer.inputShapes[0].join(', ')})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  number_embedding: {
    source: ({ around }) => (around.numbers.length === 0 ? '' : numberEmbeddingSource),
    module: (layer) => {
      const { numbers } = layer.around;
      if (numbers.length === 0) return 'nn.Identity()';
      const { frequencies, width } = args(layer);
      const [inputs] = layer.inputShapes[0];
      return `NumberEmbedding(${inputs}, [${numbers.join(', ')}], ${String(frequencies)}, ${String(width)})`;
    },
    forward: (_, [x], m) => `${m}(${x})`,
  },
  members: {
    source: (layer) => (args(layer)['sees'] === 'part' ? '' : membersSource),
    module: (layer) => {
      const sizes = layer.outputShape.join(', ');
      return args(layer)['sees'] === 'part' ? `nn.Unflatten(1, (${sizes}))` : `Members(${sizes})`;
    },
    forward: (_, [x], m) => `${m}(${x})`,
  },
  member_dense: {
    turned: true,
    source: (layer) => (args(layer)['weights'] === 'own' ? ownDenseSource : memberDenseSource),
    module: (layer) => {
      const sizes = [...layer.inputShapes[0], layer.outputShape[1]].join(', ');
      return args(layer)['weights'] === 'own' ? `OwnDense(${sizes})` : `MemberDense(${sizes})`;
    },
    forward: applied,
  },
  output: {
    turned: true,
    source: ({ inputShapes: [input] }) => (input.length === 2 ? memberOutputSource : ''),
    module: ({ inputShapes: [input], outputShape }) =>
      input.length === 2
        ? `MemberOutput(${input.join(', ')}, ${outputShape[0]})`
        : `nn.Linear(${input[0]}, ${outputShape[0]})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  token_embedding: {
    source: () => [tokensOfSource, tokenEmbeddingSource],
    module: ({ around, args: found, outputShape: [length], parameters: [{ shape }] }) => {
      const { column } = around.texts[(found['text'] as number) - 1];
      return `TokenEmbedding(${shape.join(', ')}, ${column}, ${length}, ${bool(Number(found['pairs']) > 0)})`;
    },
    forward: (_, __, m) => `${m}(rows)`,
  },
  position_embedding: {
    source: ({ args: found }) => (found['vectors'] === 'sinusoidal' ? wavesSource : positionEmbeddingSource),
    module: ({ args: found, parameters, states }) =>
      found['vectors'] === 'sinusoidal'
        ? `Waves(${states[0].shape.join(', ')}, ${String(found['segments'])})`
        : `PositionEmbedding(${parameters[0].shape.join(', ')}, ${String(found['segments'])})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  attention: {
    source: () => [realSource, attentionSource],
    module: (layer) => {
      const { heads, groups, causal, bias, rotary, dropout } = args(layer);
      const [length, width] = layer.inputShapes[0];
      const turned = `${rotary ? `, turned=${length}` : ''}${dropout === 0 ? '' : `, dropout=${String(dropout)}`}`;
      return `Attention(${width}, ${String(heads)}, ${String(groups === 0 ? heads : groups)}, ${bool(causal)}, ${bool(bias)}${turned})`;
    },
    forward: (layer, [x], m) => `${m}(${x}, ${lengthsOf(layer)})`,
  },
  conv1d: {
    source: () => [realSource, conv1dSource],
    module: (layer) => {
      const { filters, kernel, dilation, causal, bias } = args(layer);
      const sizes = [layer.inputShapes[0][1], filters, kernel, dilation].join(', ');
      return `Conv1d(${sizes}, ${bool(causal)}, ${bool(bias)})`;
    },
    forward: (layer, [x], m) => activated(args(layer), `${m}(${x}, ${lengthsOf(layer)})`),
  },
  patch_embedding: {
    source: () => patchesSource,
    module: (layer) => {
      const { size, dimensions, classToken } = args(layer);
      return `Patches(${layer.inputShapes[0][0]}, ${String(dimensions)}, ${String(size)}, ${bool(classToken)})`;
    },
    forward: (_, [x], m) => `${m}(${x})`,
  },
  lstm: recurrent('lstm'),
  gru: recurrent('gru'),
  sequence: { forward: ({ outputShape }, [x]) => `${x}.reshape(-1, ${outputShape.join(', ')})` },
  pool_positions: {
    source: (layer) => [realSource, args(layer)['pool'] === 'attention' ? attendedSource : poolPositionsSource],
    module: (layer) => (args(layer)['pool'] === 'attention' ? `Attended(${layer.inputShapes[0][1]})` : undefined),
    forward: (layer, [x], m) =>
      args(layer)['pool'] === 'attention'
        ? `${m}(${x}, ${lengthsOf(layer)})`
        : `pool_positions(${x}, ${lengthsOf(layer)}, "${String(args(layer)['pool'])}")`,
  },
  conv2d: { module: (layer) => convolution('Conv2d', layer), forward: applied },
  conv_transpose2d: { module: (layer) => convolution('ConvTranspose2d', layer), forward: applied },
  max_pool: { forward: pool('max_pool2d') },
  average_pool: { forward: pool('avg_pool2d') },
  global_average_pool: { forward: (_, [x]) => `${x}.mean(dim=(2, 3))` },
  upsample: {
    forward: (layer, [x]) => `F.interpolate(${x}, scale_factor=${String(args(layer)['factor'])}, mode="nearest")`,
  },
  activation: { forward: (layer, [x]) => activated(args(layer), x) },
  dropout: { forward: (layer, [x]) => `F.dropout(${x}, ${String(args(layer)['rate'])}, self.training)` },
  dropout2d: { forward: (layer, [x]) => `F.dropout2d(${x}, ${String(args(layer)['rate'])}, self.training)` },
  batch_norm: {
    module: (layer) => {
      const { epsilon, momentum } = args(layer);
      const [channels, ...rest] = layer.inputShapes[0];
      return `nn.BatchNorm${rest.length > 0 ? '2d' : '1d'}(${channels}, eps=${String(epsilon)}, momentum=${String(momentum)})`;
    },
    forward: (_, [x], m) => `${m}(${x})`,
  },
  layer_norm: {
    module: (layer) => `nn.LayerNorm(${layer.inputShapes[0].at(-1)!}, eps=${String(args(layer)['epsilon'])})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  rms_norm: {
    since: '2.4',
    module: (layer) => `nn.RMSNorm(${layer.inputShapes[0].at(-1)!}, eps=${String(args(layer)['epsilon'])})`,
    forward: (_, [x], m) => `${m}(${x})`,
  },
  group_norm: {
    module: (layer) => {
      const { groups, epsilon } = args(layer);
      return `nn.GroupNorm(${String(groups)}, ${layer.inputShapes[0][0]}, eps=${String(epsilon)})`;
    },
    forward: (_, [x], m) => `${m}(${x})`,
  },
  add: { forward: (_, x) => x.join(' + ') },
  concat: { forward: (_, x) => `torch.cat([${x.join(', ')}], dim=1)` },
  flatten: { forward: (_, [x]) => `${x}.flatten(1)` },
  reshape: { forward: ({ outputShape }, [x]) => `${x}.reshape(-1, ${outputShape.join(', ')})` },
};
