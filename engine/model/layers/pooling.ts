// Layers that shrink and enlarge images channel by channel.

import { pooledShape } from '../../../kernels/pooling.ts';
import type { PoolingAttributes } from '../../graph/attributes.ts';
import type { Shape } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type ArgumentsOf } from '../layer.ts';
import { imageShape } from './images.ts';

const fields = layerFields({
  size: {
    kind: 'number',
    whole: true,
    label: 'Window size',
    help: 'pixels a window is wide and high',
    minimum: 1,
    maximum: 64,
    default: 2,
  },
  stride: {
    kind: 'number',
    whole: true,
    label: 'Stride',
    help: 'pixels from one window to the next',
    minimum: 1,
    maximum: 64,
    default: 2,
  },
  padding: {
    kind: 'number',
    whole: true,
    label: 'Padding',
    help: 'pixels around the image that count as none',
    minimum: 0,
    maximum: 32,
    default: 0,
  },
});

type Window = ArgumentsOf<typeof fields>;

function attributesOf({ size, stride, padding }: Window): PoolingAttributes {
  return { windowHeight: size, windowWidth: size, stride, padding };
}

function pooled(input: Shape, args: Window, what: string): Shape {
  const [channels, height, width] = imageShape(input, what);
  const attributes = attributesOf(args);
  const { windowHeight: size, padding } = attributes;
  if (2 * padding > size) {
    throw new ModelError(
      `${what}: padding ${padding} is more than half the window of ${size}.`,
      `Set it to ${Math.floor(size / 2)} or less.`,
    );
  }
  const output = pooledShape({ planes: channels, height, width, ...attributes });
  if (output[1] < 1 || output[2] < 1) {
    throw new ModelError(
      `${what} with windows of ${size} × ${size} does not fit into images of ${width} × ${height}.`,
      'Choose smaller windows, or take out a layer that shrinks the image before it.',
    );
  }
  return output;
}

export const maxPool = defineLayer({
  type: 'max_pool',
  title: 'Max pool',
  summary: 'Keeps the largest value of each window: smaller images, the same patterns.',
  group: 'image',
  fields,
  shape: ([input], args) => pooled(input, args, 'Max pool'),
  build: ({ graph, args }, [x]) => graph.one('max_pool', [x], attributesOf(args)),
  flops: (_, output, args) => sizeOf(output) * args.size ** 2,
});

export const averagePool = defineLayer({
  type: 'average_pool',
  title: 'Average pool',
  summary: 'Keeps the mean of each window.',
  group: 'image',
  fields,
  shape: ([input], args) => pooled(input, args, 'Average pool'),
  build: ({ graph, args }, [x]) => graph.one('average_pool', [x], attributesOf(args)),
  flops: (_, output, args) => sizeOf(output) * args.size ** 2,
});

export const globalAveragePool = defineLayer({
  type: 'global_average_pool',
  title: 'Global average pool',
  summary: 'The mean of each channel over the whole image: one row of features, whatever the size.',
  group: 'image',
  fields: {},
  shape: ([input]) => [imageShape(input, 'Global average pool')[0]],
  build: ({ graph }, [x]) => {
    const [n, channels, height, width] = graph.shape(x);
    const whole = { windowHeight: height, windowWidth: width, stride: 1, padding: 0 };
    return graph.one('reshape', [graph.one('average_pool', [x], whole)], { shape: [n, channels] });
  },
  flops: ([input]) => sizeOf(input),
});

export const upsample = defineLayer({
  type: 'upsample',
  title: 'Upsample',
  summary: 'Enlarges the image by repeating its pixels.',
  group: 'image',
  fields: layerFields({
    factor: {
      kind: 'number',
      whole: true,
      label: 'Factor',
      help: 'times the image becomes larger',
      minimum: 1,
      maximum: 8,
      default: 2,
    },
  }),
  shape: ([input], args) => {
    const [channels, height, width] = imageShape(input, 'Upsample');
    return [channels, height * args.factor, width * args.factor];
  },
  build: ({ graph, args }, [x]) => graph.one('upsample', [x], { factor: args.factor }),
  flops: () => 0,
});
