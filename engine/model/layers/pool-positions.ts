// One vector of a sequence: what stands behind it then is as for a row of features.

import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';

export const poolPositions = defineLayer({
  type: 'pool_positions',
  title: 'Pool positions',
  summary: 'Makes one vector of a sequence: the mean of its positions, its first or its last. Padding is left out.',
  group: 'text',
  positions: 'ends',
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
  build: ({ graph, args: { pool }, lengths }, [x]) => graph.one('pool_positions', [x, lengths()], { pool }),
  flops: ([[length, width]], _, { pool }) => (pool === 'mean' ? length * width : 0),
});
