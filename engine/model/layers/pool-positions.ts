// One vector of a sequence: what stands behind it then is as for a row of features.

import type { ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerBuildContext } from '../layer.ts';

/** What a score is lowered by where a position is padding. */
const unseen = -1e30;

/** Σ softmax(x·query)·x over the real positions of x [N,L,D] (Yang et al. 2016, without a dense layer of its own). */
function attended({ graph, tensor, lengths }: LayerBuildContext<unknown>, x: ValueId): ValueId {
  const [batch, length, width] = graph.shape(x);
  const plain = { transposeA: false, transposeB: false, scale: 1 };
  const scores = graph.one('matmul', [x, tensor('query')], plain);
  const rows = graph.one('reshape', [scores], { shape: [batch, length] });
  const real = lengths();
  const masked =
    real === null
      ? rows
      : graph.one('add', [rows, graph.one('positions_mask', [real], { length, inside: 0, outside: unseen })], {});
  const shares = graph.one('reshape', [graph.one('softmax', [masked], {})], { shape: [batch, 1, length] });
  return graph.one('reshape', [graph.one('matmul', [shares, x], plain)], { shape: [batch, width] });
}

export const poolPositions = defineLayer({
  type: 'pool_positions',
  title: 'Pool positions',
  summary:
    'Makes one vector of a sequence: the mean of its positions, its first, its last, or what learned weights choose. Padding is left out.',
  group: 'text',
  positions: 'ends',
  looksAhead: ({ pool }) => pool !== 'last',
  fields: layerFields({
    pool: {
      kind: 'choice',
      label: 'Take',
      help: 'what of the positions: their mean, the first (as BERT), the last real one (as GPT), or a mean whose weights are learned',
      choices: { mean: 'Their mean', first: 'The first', last: 'The last', attention: 'What it attends to' },
      default: 'mean',
    },
  }),
  shape: ([input], _, { positions }) => {
    if (positions === null) {
      throw new ModelError('Pool positions needs a sequence.', 'Take this layer out, or put it behind a sequence.');
    }
    return [input[1]];
  },
  parameters: ([[, width]], { pool }) =>
    pool === 'attention'
      ? [{ name: 'query', shape: [width, 1], initializer: { kind: 'uniform_fan_in', fanIn: width }, decay: true }]
      : [],
  build: (context, [x]) => {
    const { graph, args, lengths, everyPosition } = context;
    if (args.pool === 'attention') return attended(context, x);
    if (!everyPosition) return graph.one('pool_positions', [x, lengths()], { pool: args.pool });
    // A language model answers at each position; asked for what follows, at the last one alone.
    const [batch, length, width] = graph.shape(x);
    return graph.one('reshape', [x], { shape: [batch * length, width] });
  },
  flops: ([[length, width]], _, { pool }) => ({ mean: 1, first: 0, last: 0, attention: 4 })[pool] * length * width,
});
