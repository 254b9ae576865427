// One vector of a sequence: what stands behind it then is as for a row of features.

import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';

export const poolPositions = defineLayer({
  type: 'pool_positions',
  title: 'Pool positions',
  summary: 'Makes one vector of a sequence: the mean of its positions, its first or its last. Padding is left out.',
  group: 'text',
  positions: 'ends',
  looksAhead: ({ pool }) => pool !== 'last',
  fields: layerFields({
    pool: {
      kind: 'choice',
      label: 'Take',
      help: 'what of the positions: their mean, the first (as BERT) or the last real one (as GPT)',
      choices: { mean: 'Their mean', first: 'The first', last: 'The last' },
      default: 'mean',
    },
  }),
  shape: ([input], _, { positions }) => {
    if (positions === null) {
      throw new ModelError('Pool positions needs a sequence.', 'Take this layer out, or put it behind a sequence.');
    }
    return [input[1]];
  },
  build: ({ graph, args: { pool }, lengths, everyPosition }, [x]) => {
    if (!everyPosition) return graph.one('pool_positions', [x, lengths()], { pool });
    // A language model answers at each position; asked for what follows, at the last one alone.
    const [batch, length, width] = graph.shape(x);
    return graph.one('reshape', [x], { shape: [batch * length, width] });
  },
  flops: ([[length, width]], _, { pool }) => (pool === 'mean' ? length * width : 0),
});
