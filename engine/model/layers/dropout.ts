// Dropout (Srivastava et al. 2014) of single values or of whole channels (Tompson et al. 2015), inverted: nothing to do at
// inference.

import { sizeOf } from '../../graph/op.ts';
import type { LayerDef } from '../layer.ts';
import { imageShape } from './images.ts';

export const dropout: LayerDef = {
  type: 'dropout',
  title: 'Dropout',
  summary: 'Sets a share of the values to zero while training, against learning by heart.',
  group: 'regularisation',
  fields: [{ kind: 'number', name: 'rate', label: 'Rate', default: 0.2, minimum: 0, maximum: 0.95 }],
  shape: ([input]) => input,
  build: ({ graph, mode, args, random, steps }, [x]) => {
    const rate = Number(args.rate);
    if (mode === 'inference' || rate === 0) return x;
    return graph.one('dropout', [x], { rate, seed: random.seed, stream: random.stream, steps });
  },
  flops: ([input]) => 2 * sizeOf(input),
};

export const dropout2d: LayerDef = {
  type: 'dropout2d',
  title: 'Dropout 2D',
  summary: 'Sets whole channels to zero while training: neighbouring pixels are too alike to drop singly.',
  group: 'regularisation',
  fields: [{ kind: 'number', name: 'rate', label: 'Rate', default: 0.1, minimum: 0, maximum: 0.95 }],
  shape: ([input]) => imageShape(input, 'Dropout 2D'),
  build: ({ graph, mode, args, random, steps }, [x]) => {
    const rate = Number(args.rate);
    if (mode === 'inference' || rate === 0) return x;
    return graph.one('dropout_channels', [x], { rate, seed: random.seed, stream: random.stream, steps });
  },
  flops: ([input]) => sizeOf(input),
};
