// Layers that join branches (residual add and concat; their `from` lists the layers to join) and that only change a shape.

import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields } from '../layer.ts';

export const add = defineLayer({
  type: 'add',
  title: 'Add',
  summary: 'Sums branches of the same shape: the residual connection.',
  group: 'join',
  positions: 'keeps',
  fields: {},
  many: true,
  shape: (inputs) => {
    const [first, ...others] = inputs;
    for (const other of others) {
      if (other.join() !== first.join()) {
        throw new ModelError(
          `Add needs equal shapes, got ${first.join(' × ')} and ${other.join(' × ')}.`,
          'Give the branches the same number of units.',
        );
      }
    }
    return first;
  },
  build: ({ graph }, [first, ...others]) => others.reduce((sum, value) => graph.one('add', [sum, value], {}), first),
  flops: (inputs) => (inputs.length - 1) * sizeOf(inputs[0]),
});

export const concat = defineLayer({
  type: 'concat',
  title: 'Concat',
  summary: 'Puts the features of branches side by side.',
  group: 'join',
  fields: {},
  many: true,
  shape: (inputs) => {
    const bad = inputs.find((input) => input.length !== 1);
    if (bad)
      throw new ModelError(`Concat needs flat inputs, got ${bad.join(' × ')}.`, 'Add a Flatten layer before it.');
    return [inputs.reduce((sum, input) => sum + input[0], 0)];
  },
  build: ({ graph }, inputs) => graph.one('concat', inputs, { axis: 1 }),
  flops: () => 0,
});

export const flatten = defineLayer({
  type: 'flatten',
  title: 'Flatten',
  summary: 'Turns any shape into one row of features.',
  group: 'shape',
  positions: 'ends',
  fields: {},
  shape: ([input]) => [sizeOf(input)],
  build: ({ graph }, [x]) => {
    const [n, ...rest] = graph.shape(x);
    return rest.length === 1 ? x : graph.one('reshape', [x], { shape: [n, sizeOf(rest)] });
  },
  flops: () => 0,
});

const side = (label: string, help: string, usual: number) =>
  ({ kind: 'number', whole: true, label, help, minimum: 1, maximum: 65536, default: usual }) as const;

export const reshape = defineLayer({
  type: 'reshape',
  title: 'Reshape',
  summary: 'Reads a row of features as images: channel by channel, row by row.',
  group: 'shape',
  fields: layerFields({
    channels: side('Channels', 'channels of the images', 1),
    height: side('Height', 'pixels', 8),
    width: side('Width', 'pixels', 8),
  }),
  shape: ([input], { channels, height, width }) => {
    const shape = [channels, height, width];
    if (sizeOf(shape) !== sizeOf(input)) {
      throw new ModelError(
        `Reshape: ${shape.join(' × ')} are ${sizeOf(shape)} values, the input has ${sizeOf(input)}.`,
        `Choose channels, height and width whose product is ${sizeOf(input)}.`,
      );
    }
    return shape;
  },
  build: ({ graph, args: { channels, height, width } }, [x]) => {
    const shape = [channels, height, width];
    return graph.one('reshape', [x], { shape: [graph.shape(x)[0], ...shape] });
  },
  flops: () => 0,
});
