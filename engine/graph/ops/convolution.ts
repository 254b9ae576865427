// Convolution and transposed convolution, forward and backward, over three kernels: a transposed convolution is the
// gradient of a convolution by its input, and its own gradient is that convolution. N batch, C channels, O filters, k kernel.

import { activationCodes } from '../../../kernels/activations.ts';
import { convolvedSize, type Convolution } from '../../../kernels/convolution.ts';
import type { AttributesOf, ConvolutionAttributes } from '../attributes.ts';
import { GraphError } from '../errors.ts';
import type { Shape } from '../graph.ts';
import { defineOp, expectEqual, ranked, sizeOf } from '../op.ts';

/** The parameters of a convolution of `x` [N,C,H,W] with `w` [O,C/groups,k,k]. */
function parametersOf(x: Shape, w: Shape, { stride, padding, dilation, groups }: ConvolutionAttributes): Convolution {
  const [batch, channels, height, width] = x;
  const [filters, , kernel] = w;
  return { batch, channels, height, width, filters, kernel, stride, padding, dilation, groups };
}

function convolvedShape(x: Shape | null, w: Shape | null, attributes: ConvolutionAttributes): Shape {
  const [n, channels, height, width] = ranked(x, 4, 'conv2d input');
  const [filters, groupChannels, kernel, kernelWidth] = ranked(w, 4, 'conv2d weight');
  const { groups } = attributes;
  if (channels !== groupChannels * groups || filters % groups !== 0) {
    throw new GraphError(`conv2d weight [${w!.join()}] in ${groups} groups does not fit ${channels} channels`);
  }
  expectEqual([kernelWidth], [kernel], 'conv2d weight width');
  const size = { kernel, stride: attributes.stride, padding: attributes.padding, dilation: attributes.dilation };
  return [n, filters, convolvedSize(height, size), convolvedSize(width, size)];
}

export const convolutionOps = {
  /** y[N,O,H′,W′] = f(conv(x, w) + bias[O]); inputs x [N,C,H,W], w [O,C/groups,k,k], bias?. */
  conv2d: defineOp<AttributesOf<'conv2d'>>({
    shape: ([x, w, bias], attributes) => {
      if (bias) expectEqual(bias, [w![0]], 'conv2d bias');
      return [convolvedShape(x, w, attributes)];
    },
    gradient: (graph, { inputs: [x, w, bias], attributes }, [dy]) => {
      if (attributes.activation !== 'none') throw new GraphError('differentiate before fusing activations');
      if (dy === null) return [null, null, null];
      const { stride, padding, dilation, groups } = attributes;
      const shared = { stride, padding, dilation, groups };
      const [, , height, width] = graph.shape(x!);
      const passed = { ...shared, height, width, activation: 'none', derivative: 'none', slope: 0 } as const;
      const dx = graph.one('conv2d_input_grad', [dy, w, null, null], passed);
      const kernel = graph.shape(w!)[2];
      const [dw, db] = graph.apply('conv2d_weight_grad', [x, dy], { ...shared, kernel, bias: bias !== null });
      return [dx, dw, bias === null ? null : db];
    },
    lower: ({ attributes, inputs, outputs, shapes: [x, w] }) => [
      {
        kernel: 'conv2d',
        inputs,
        outputs,
        params: {
          ...parametersOf(x!, w!, attributes),
          activation: activationCodes[attributes.activation],
          slope: attributes.slope,
        },
      },
    ],
  }),

  /**
   * dx[N,C,height,width] = f(convᵀ(dy, w) + bias[C]), or convᵀ(dy, w) ⊙ f′(saved); inputs dy [N,O,H′,W′], w [O,C/groups,k,k],
   * bias?, saved?. Without `derivative` it is the transposed convolution, which can be differentiated.
   */
  conv2d_input_grad: defineOp<AttributesOf<'conv2d_input_grad'>>({
    shape: ([dy, w, bias], attributes) => {
      const [n] = ranked(dy, 4, 'conv2d output gradient');
      const channels = ranked(w, 4, 'conv2d weight')[1] * attributes.groups;
      const dx = [n, channels, attributes.height, attributes.width];
      expectEqual(dy!, convolvedShape(dx, w, attributes), 'conv2d output gradient');
      if (bias) expectEqual(bias, [channels], 'transposed convolution bias');
      return [dx];
    },
    gradient: (graph, { inputs: [x, w, bias], attributes }, [dy]) => {
      if (attributes.activation !== 'none' || attributes.derivative !== 'none') {
        throw new GraphError('differentiate before fusing activations');
      }
      if (dy === null) return [null, null, null, null];
      const { stride, padding, dilation, groups } = attributes;
      const shared = { stride, padding, dilation, groups };
      const dx = graph.one('conv2d', [dy, w, null], { ...shared, activation: 'none', slope: 0 });
      const kernel = graph.shape(w!)[2];
      const [dw] = graph.apply('conv2d_weight_grad', [dy, x], { ...shared, kernel, bias: false });
      return [dx, dw, bias === null ? null : graph.one('channel_sum', [dy], {}), null];
    },
    lower: ({ attributes, inputs: [dy, w, bias, saved = null], outputs, shapes, outputShapes }) => {
      const derived = attributes.derivative !== 'none';
      return [
        {
          kernel: 'conv2d_input_grad',
          inputs: [dy, w, bias, saved],
          outputs,
          params: {
            ...parametersOf(outputShapes[0], shapes[1]!, attributes),
            activation: activationCodes[derived ? attributes.derivative : attributes.activation],
            slope: attributes.slope,
            gradient: derived ? 1 : 0,
          },
        },
      ];
    },
  }),

  /** dw[O,C/groups,k,k], db[O]; inputs x [N,C,H,W], dy [N,O,H′,W′]. */
  conv2d_weight_grad: defineOp<AttributesOf<'conv2d_weight_grad'>>({
    shape: ([x, dy], { bias, kernel, groups }) => {
      const [, channels] = ranked(x, 4, 'conv2d input');
      const [, filters] = ranked(dy, 4, 'conv2d output gradient');
      const dw = [filters, channels / groups, kernel, kernel];
      return bias ? [dw, [filters]] : [dw];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs: [dw, db = null], shapes: [x], outputShapes }) => [
      {
        kernel: 'conv2d_weight_grad',
        inputs,
        outputs: [dw, db],
        params: { ...parametersOf(x!, outputShapes[0], attributes) },
      },
    ],
  }),

  /** y[C] = sums of x [N,C,…] over all but the channels. */
  channel_sum: defineOp<AttributesOf<'channel_sum'>>({
    shape: ([x]) => [[x![1]]],
    gradient: 'none',
    lower: ({ inputs, outputs, shapes: [x] }) => [
      {
        kernel: 'channel_sum',
        inputs,
        outputs,
        params: { outer: x![0], channels: x![1], inner: sizeOf(x!.slice(2)) },
      },
    ],
  }),
};
