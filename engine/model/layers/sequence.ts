// A row of features read as a sequence: measurements one after the other, as many values at each time.

import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';

export const sequence = defineLayer({
  type: 'sequence',
  title: 'Sequence',
  summary: 'Reads a row of features as a sequence: position by position, as many values each.',
  group: 'shape',
  positions: 'begins',
  fields: layerFields({
    length: {
      kind: 'number',
      whole: true,
      label: 'Length',
      help: 'positions; each has its share of the values',
      minimum: 1,
      maximum: 65536,
      default: 8,
    },
  }),
  shape: ([input], { length }, { positions }) => {
    if (positions !== null) throw new ModelError('Sequence is given a sequence already.', 'Take this layer out.');
    const size = sizeOf(input);
    if (size % length === 0) return [length, size / length];
    throw new ModelError(
      `Sequence: ${size} values make no ${length} positions of equal size.`,
      `Choose a length that divides ${size}.`,
    );
  },
  build: ({ graph, args: { length } }, [x]) => {
    const [batch, ...shape] = graph.shape(x);
    return graph.one('reshape', [x], { shape: [batch, length, sizeOf(shape) / length] });
  },
  flops: () => 0,
});
