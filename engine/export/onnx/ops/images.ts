// Convolutions, pooling, upsampling.

import type { ConvolutionAttributes, PoolingAttributes } from '../../../graph/attributes.ts';
import type { Shape } from '../../../graph/graph.ts';
import type { OpExports } from '../op.ts';
import type { OnnxNode } from '../proto.ts';
import { activate } from './elementwise.ts';

/** `weight`: [O,C,k,k]. */
function convolution(
  { stride, padding, dilation, groups }: ConvolutionAttributes,
  weight: Shape,
): OnnxNode['attributes'] {
  return {
    kernel_shape: { ints: [weight[2], weight[3]] },
    strides: { ints: [stride, stride] },
    pads: { ints: [padding, padding, padding, padding] },
    dilations: { ints: [dilation, dilation] },
    group: { int: groups },
  };
}

function pooling({ windowHeight, windowWidth, stride, padding }: PoolingAttributes): OnnxNode['attributes'] {
  return {
    kernel_shape: { ints: [windowHeight, windowWidth] },
    strides: { ints: [stride, stride] },
    pads: { ints: [padding, padding, padding, padding] },
  };
}

export const imageExports: OpExports<'conv2d' | 'conv2d_input_grad' | 'max_pool' | 'average_pool' | 'upsample'> = {
  conv2d: ({ onnx, attributes, inputs: [x, w, bias], shapes }) => {
    const y = onnx.one('Conv', bias ? [x, w, bias] : [x, w], convolution(attributes, shapes[1]!));
    return [activate(onnx, y, attributes.activation, attributes.slope)];
  },
  // At inference it is the transposed convolution. A stride leaves the size open: the padding of the output settles it.
  conv2d_input_grad: ({ onnx, attributes, inputs: [x, w, bias], shapes }) => {
    const [, , height, width] = shapes[0]!;
    const [, , kernel] = shapes[1]!;
    const { stride, padding, dilation } = attributes;
    const least = (size: number): number => stride * (size - 1) + dilation * (kernel - 1) + 1 - 2 * padding;
    const y = onnx.one('ConvTranspose', bias ? [x, w, bias] : [x, w], {
      ...convolution(attributes, shapes[1]!),
      output_padding: { ints: [attributes.height - least(height), attributes.width - least(width)] },
    });
    return [activate(onnx, y, attributes.activation, attributes.slope)];
  },
  max_pool: ({ onnx, attributes, inputs }) => [onnx.one('MaxPool', inputs, pooling(attributes))],
  average_pool: ({ onnx, attributes, inputs }) => [
    onnx.one('AveragePool', inputs, { ...pooling(attributes), count_include_pad: { int: 1 } }),
  ],
  upsample: ({ onnx, attributes: { factor }, inputs: [x] }) => [
    onnx.one('Resize', [x, null, onnx.float([1, 1, factor, factor], [4])], {
      mode: { text: 'nearest' },
      coordinate_transformation_mode: { text: 'asymmetric' },
      nearest_mode: { text: 'floor' },
    }),
  ],
};
