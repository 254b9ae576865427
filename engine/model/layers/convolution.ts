// Convolution layers over images [channels, height, width], weights as PyTorch keeps them.

import type { ActivationName } from '../../../kernels/activations.ts';
import { convolvedSize } from '../../../kernels/convolution.ts';
import type { Shape, ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import type { FieldDef, LayerArguments, LayerBuildContext, LayerDef, ParameterDef } from '../layer.ts';
import { activationField, slopeField } from './activation.ts';
import { imageShape } from './images.ts';

const integer = (name: string, label: string, initial: number, minimum: number, maximum: number, help?: string) =>
  ({ kind: 'integer', name, label, default: initial, minimum, maximum, ...(help ? { help } : {}) }) as const;

const geometry: readonly FieldDef[] = [
  integer('filters', 'Filters', 32, 1, 4096, 'Channels of the output.'),
  integer('kernel', 'Kernel size', 3, 1, 31),
  integer('stride', 'Stride', 1, 1, 8),
  integer('padding', 'Padding', 1, 0, 40, 'Zeros around the image: half the kernel size keeps its size.'),
  integer('dilation', 'Dilation', 1, 1, 8, 'Distance between the pixels a filter looks at.'),
  integer('groups', 'Groups', 1, 1, 4096, 'As many as channels: each channel has filters of its own (depthwise).'),
];
const ending: readonly FieldDef[] = [
  activationField('none'),
  slopeField,
  { kind: 'boolean', name: 'bias', label: 'Bias', default: true, help: 'Not needed before batch norm.' },
];

/** The arguments that both layers and their ops share. */
function geometryOf(args: LayerArguments) {
  const [stride, padding, dilation, groups] = [args.stride, args.padding, args.dilation, args.groups].map(Number);
  return { stride, padding, dilation, groups };
}

function checkGroups(channels: number, args: LayerArguments): void {
  const groups = Number(args.groups);
  const filters = Number(args.filters);
  if (channels % groups === 0 && filters % groups === 0) return;
  throw new ModelError(
    `${groups} groups do not divide ${channels} channels and ${filters} filters.`,
    'Both have to be multiples of the number of groups.',
  );
}

function finish({ graph, args }: LayerBuildContext, y: ValueId): ValueId {
  const activation = args.activation as ActivationName;
  return activation === 'none' ? y : graph.one('activation', [y], { activation, slope: Number(args.slope) });
}

function parametersOf(shape: Shape, filters: number, fanIn: number, bias: unknown): readonly ParameterDef[] {
  const initializer = { kind: 'uniform_fan_in', fanIn } as const;
  const weight: ParameterDef = { name: 'weight', shape, initializer, decay: true };
  return bias ? [weight, { name: 'bias', shape: [filters], initializer, decay: false }] : [weight];
}

export const conv2d: LayerDef = {
  type: 'conv2d',
  title: 'Conv 2D',
  summary: 'Slides small filters over the image: each finds one pattern wherever it is.',
  group: 'image',
  fields: [...geometry, ...ending],
  shape: ([input], args) => {
    const [channels, height, width] = imageShape(input, 'Conv 2D');
    checkGroups(channels, args);
    const size = { kernel: Number(args.kernel), ...geometryOf(args) };
    const output = [Number(args.filters), convolvedSize(height, size), convolvedSize(width, size)];
    if (output[1] < 1 || output[2] < 1) {
      throw new ModelError(
        `Conv 2D with kernel ${args.kernel} does not fit into images of ${width} × ${height}.`,
        'Choose a smaller kernel or dilation, or more padding.',
      );
    }
    return output;
  },
  parameters: ([[channels]], args) => {
    const [filters, kernel, inputs] = [Number(args.filters), Number(args.kernel), channels / Number(args.groups)];
    return parametersOf([filters, inputs, kernel, kernel], filters, inputs * kernel ** 2, args.bias);
  },
  build: (context, [x]) => {
    const { graph, args, tensor } = context;
    const attributes = { ...geometryOf(args), activation: 'none', slope: 0 } as const;
    return finish(context, graph.one('conv2d', [x, tensor('weight'), args.bias ? tensor('bias') : null], attributes));
  },
  flops: ([[channels]], output, args) =>
    (2 * sizeOf(output) * channels * Number(args.kernel) ** 2) / Number(args.groups),
};

export const convTranspose2d: LayerDef = {
  type: 'conv_transpose2d',
  title: 'Transposed conv 2D',
  summary: 'A convolution the other way round: enlarges the image by its stride.',
  group: 'image',
  fields: [
    ...geometry.map((field) => (field.name === 'stride' ? { ...field, default: 2 } : field) as FieldDef),
    integer('outputPadding', 'Output padding', 1, 0, 7, 'Adds rows and columns: a stride leaves the size open.'),
    ...ending,
  ],
  shape: ([input], args) => {
    const [channels, height, width] = imageShape(input, 'Transposed conv 2D');
    checkGroups(channels, args);
    const { stride, padding, dilation } = geometryOf(args);
    const extra = Number(args.outputPadding);
    if (extra >= Math.max(stride, dilation)) {
      throw new ModelError(
        `Output padding ${extra} is not smaller than stride ${stride} or dilation ${dilation}.`,
        `Set it to ${Math.max(stride, dilation) - 1} or less.`,
      );
    }
    const enlarged = (size: number): number =>
      (size - 1) * stride - 2 * padding + dilation * (Number(args.kernel) - 1) + 1 + extra;
    const output = [Number(args.filters), enlarged(height), enlarged(width)];
    if (output[1] < 1 || output[2] < 1) {
      throw new ModelError(
        `Transposed conv 2D turns images of ${width} × ${height} into ${output[2]} × ${output[1]}.`,
        'Choose less padding.',
      );
    }
    return output;
  },
  parameters: ([[channels]], args) => {
    const [filters, kernel] = [Number(args.filters), Number(args.kernel)];
    const outputs = filters / Number(args.groups);
    return parametersOf([channels, outputs, kernel, kernel], filters, outputs * kernel ** 2, args.bias);
  },
  build: (context, [x]) => {
    const { graph, args, tensor } = context;
    const [, height, width] = convTranspose2d.shape([graph.shape(x).slice(1)], args, { outputs: 0 });
    const attributes = {
      ...geometryOf(args),
      height,
      width,
      activation: 'none',
      derivative: 'none',
      slope: 0,
    } as const;
    const inputs = [x, tensor('weight'), args.bias ? tensor('bias') : null, null];
    return finish(context, graph.one('conv2d_input_grad', inputs, attributes));
  },
  flops: ([input], [filters], args) => (2 * sizeOf(input) * filters * Number(args.kernel) ** 2) / Number(args.groups),
};
