// Convolution layers over images [channels, height, width], weights as PyTorch keeps them.

import { convolvedSize } from '../../../kernels/convolution.ts';
import type { Shape } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type ArgumentsOf, type ParameterDef } from '../layer.ts';
import { activated, activationFields } from './activation.ts';
import { imageShape } from './images.ts';

const geometry = layerFields({
  filters: {
    kind: 'number',
    whole: true,
    label: 'Filters',
    help: 'channels of the output',
    minimum: 1,
    maximum: 4096,
    default: 32,
  },
  kernel: {
    kind: 'number',
    whole: true,
    label: 'Kernel size',
    help: 'pixels a filter is wide and high',
    minimum: 1,
    maximum: 31,
    default: 3,
  },
  stride: {
    kind: 'number',
    whole: true,
    label: 'Stride',
    help: 'pixels from one place of a filter to the next',
    minimum: 1,
    maximum: 8,
    default: 1,
  },
  padding: {
    kind: 'number',
    whole: true,
    label: 'Padding',
    help: 'zeros around the image; half the kernel size keeps its size',
    minimum: 0,
    maximum: 40,
    default: 1,
  },
  dilation: {
    kind: 'number',
    whole: true,
    label: 'Dilation',
    help: 'distance between the pixels a filter looks at',
    minimum: 1,
    maximum: 8,
    default: 1,
  },
  groups: {
    kind: 'number',
    whole: true,
    label: 'Groups',
    help: 'as many as channels: each channel has filters of its own (depthwise)',
    minimum: 1,
    maximum: 4096,
    default: 1,
  },
});
const ending = layerFields({
  ...activationFields('none'),
  bias: {
    kind: 'switch',
    label: 'Bias',
    help: 'whether each filter adds a number of its own; not needed before batch norm',
    default: true,
  },
});
const transposed = layerFields({
  ...geometry,
  stride: { ...geometry.stride, help: 'times the image becomes larger', default: 2 },
  outputPadding: {
    kind: 'number',
    whole: true,
    label: 'Output padding',
    help: 'adds rows and columns: a stride leaves the size open',
    minimum: 0,
    maximum: 7,
    default: 1,
  },
  ...ending,
});

type Geometry = ArgumentsOf<typeof geometry>;

/** The arguments that both layers and their ops share. */
const geometryOf = ({ stride, padding, dilation, groups }: Geometry) => ({ stride, padding, dilation, groups });

function checkGroups(channels: number, { groups, filters }: Geometry): void {
  if (channels % groups === 0 && filters % groups === 0) return;
  throw new ModelError(
    `${groups} groups do not divide ${channels} channels and ${filters} filters.`,
    'Both have to be multiples of the number of groups.',
  );
}

function parametersOf(shape: Shape, filters: number, fanIn: number, bias: boolean): readonly ParameterDef[] {
  const initializer = { kind: 'uniform_fan_in', fanIn } as const;
  const weight: ParameterDef = { name: 'weight', shape, initializer, decay: true };
  return bias ? [weight, { name: 'bias', shape: [filters], initializer, decay: false }] : [weight];
}

export const conv2d = defineLayer({
  type: 'conv2d',
  title: 'Conv 2D',
  summary: 'Slides small filters over the image: each finds one pattern wherever it is.',
  group: 'image',
  fields: layerFields({ ...geometry, ...ending }),
  shape: ([input], args) => {
    const [channels, height, width] = imageShape(input, 'Conv 2D');
    checkGroups(channels, args);
    const size = { kernel: args.kernel, ...geometryOf(args) };
    const output = [args.filters, convolvedSize(height, size), convolvedSize(width, size)];
    if (output[1] < 1 || output[2] < 1) {
      throw new ModelError(
        `Conv 2D with kernel ${args.kernel} does not fit into images of ${width} × ${height}.`,
        'Choose a smaller kernel or dilation, or more padding.',
      );
    }
    return output;
  },
  parameters: ([[channels]], args) => {
    const [filters, kernel, inputs] = [args.filters, args.kernel, channels / args.groups];
    return parametersOf([filters, inputs, kernel, kernel], filters, inputs * kernel ** 2, args.bias);
  },
  build: ({ graph, args, tensor }, [x]) => {
    const attributes = { ...geometryOf(args), activation: 'none', slope: 0 } as const;
    return activated(
      graph,
      graph.one('conv2d', [x, tensor('weight'), args.bias ? tensor('bias') : null], attributes),
      args,
    );
  },
  flops: ([[channels]], output, args) => (2 * sizeOf(output) * channels * args.kernel ** 2) / args.groups,
});

function transposedShape(input: Shape, args: ArgumentsOf<typeof transposed>): Shape {
  const [channels, height, width] = imageShape(input, 'Transposed conv 2D');
  checkGroups(channels, args);
  const { stride, padding, dilation } = geometryOf(args);
  const extra = args.outputPadding;
  if (extra >= Math.max(stride, dilation)) {
    throw new ModelError(
      `Output padding ${extra} is not smaller than stride ${stride} or dilation ${dilation}.`,
      `Set it to ${Math.max(stride, dilation) - 1} or less.`,
    );
  }
  const enlarged = (size: number): number =>
    (size - 1) * stride - 2 * padding + dilation * (args.kernel - 1) + 1 + extra;
  const output = [args.filters, enlarged(height), enlarged(width)];
  if (output[1] < 1 || output[2] < 1) {
    throw new ModelError(
      `Transposed conv 2D turns images of ${width} × ${height} into ${output[2]} × ${output[1]}.`,
      'Choose less padding.',
    );
  }
  return output;
}

export const convTranspose2d = defineLayer({
  type: 'conv_transpose2d',
  title: 'Transposed conv 2D',
  summary: 'A convolution the other way round: enlarges the image by its stride.',
  group: 'image',
  fields: transposed,
  shape: ([input], args) => transposedShape(input, args),
  parameters: ([[channels]], args) => {
    const [filters, kernel] = [args.filters, args.kernel];
    const outputs = filters / args.groups;
    return parametersOf([channels, outputs, kernel, kernel], filters, outputs * kernel ** 2, args.bias);
  },
  build: ({ graph, args, tensor }, [x]) => {
    const [, height, width] = transposedShape(graph.shape(x).slice(1), args);
    const attributes = {
      ...geometryOf(args),
      height,
      width,
      activation: 'none',
      derivative: 'none',
      slope: 0,
    } as const;
    const inputs = [x, tensor('weight'), args.bias ? tensor('bias') : null, null];
    return activated(graph, graph.one('conv2d_input_grad', inputs, attributes), args);
  },
  flops: ([input], [filters], args) => (2 * sizeOf(input) * filters * args.kernel ** 2) / args.groups,
});
