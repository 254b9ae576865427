// Dropout (Srivastava et al. 2014) of single values or of whole channels (Tompson et al. 2015), inverted: nothing to do at
// inference.

import { sizeOf } from '../../graph/op.ts';
import { defineLayer, layerFields } from '../layer.ts';
import { imageShape } from './images.ts';

/** The one argument of both, usually this much. */
const rateOf = (usual: number) =>
  layerFields({
    rate: { kind: 'number', label: 'Rate', help: 'share set to zero', minimum: 0, maximum: 0.95, default: usual },
  });

export const dropout = defineLayer({
  type: 'dropout',
  title: 'Dropout',
  summary: 'Sets a share of the values to zero while training, against learning by heart.',
  group: 'regularisation',
  positions: 'keeps',
  fields: rateOf(0.2),
  shape: ([input]) => input,
  build: ({ graph, mode, args, random, steps, scheduled }, [x]) => {
    const { rate } = args;
    if (mode === 'inference' || rate === 0) return x;
    return graph.one('dropout', [x], { rate, seed: random.seed, stream: random.stream, steps, scheduled });
  },
  flops: ([input]) => 2 * sizeOf(input),
});

export const dropout2d = defineLayer({
  type: 'dropout2d',
  title: 'Dropout 2D',
  summary: 'Sets whole channels to zero while training: neighbouring pixels are too alike to drop singly.',
  group: 'regularisation',
  fields: rateOf(0.1),
  shape: ([input]) => imageShape(input, 'Dropout 2D'),
  build: ({ graph, mode, args, random, steps }, [x]) => {
    const { rate } = args;
    if (mode === 'inference' || rate === 0) return x;
    const { seed, stream } = random;
    return graph.one('dropout_channels', [x], { rate, seed, stream, steps, scheduled: false });
  },
  flops: ([input]) => sizeOf(input),
});
