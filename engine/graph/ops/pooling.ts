// Ops that change the size of images plane by plane: max and average pooling and upsampling. x is [N,C,H,W].

import { pooledShape, type Pooling } from '../../../kernels/pooling.ts';
import type { AttributesOf, PoolingAttributes } from '../attributes.ts';
import type { Shape } from '../graph.ts';
import { defineOp, expectEqual, ranked } from '../op.ts';

/** The parameters of pooling an input of this shape. */
function parametersOf(x: Shape | null, attributes: PoolingAttributes): Pooling {
  const [n, channels, height, width] = ranked(x, 4, 'pooling input');
  const { windowHeight, windowWidth, stride, padding } = attributes;
  return { planes: n * channels, height, width, windowHeight, windowWidth, stride, padding };
}

function pooled(x: Shape | null, attributes: PoolingAttributes): Shape {
  const [, height, width] = pooledShape(parametersOf(x, attributes));
  return [x![0], x![1], height, width];
}

export const poolingOps = {
  /** The largest element of each window. */
  max_pool: defineOp<PoolingAttributes>({
    shape: ([x], attributes) => [pooled(x, attributes)],
    gradient: (graph, { inputs: [x], attributes }, [dy]) => [
      dy === null ? null : graph.one('max_pool_grad', [dy, x], attributes),
    ],
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      { kernel: 'max_pool', inputs, outputs, params: parametersOf(x, attributes) },
    ],
  }),

  /** Inputs dy and x. */
  max_pool_grad: defineOp<PoolingAttributes>({
    shape: ([dy, x], attributes) => {
      expectEqual(dy!, pooled(x, attributes), 'pooling output gradient');
      return [x!];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [, x] }) => [
      { kernel: 'max_pool_grad', inputs, outputs, params: parametersOf(x, attributes) },
    ],
  }),

  /** The mean of each window. */
  average_pool: defineOp<PoolingAttributes>({
    shape: ([x], attributes) => [pooled(x, attributes)],
    gradient: (graph, { inputs: [x], attributes }, [dy]) => {
      const [, , height, width] = graph.shape(x!);
      return [dy === null ? null : graph.one('average_pool_grad', [dy], { ...attributes, height, width })];
    },
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      { kernel: 'average_pool', inputs, outputs, params: parametersOf(x, attributes) },
    ],
  }),

  /** Input dy. */
  average_pool_grad: defineOp<AttributesOf<'average_pool_grad'>>({
    shape: ([dy], attributes) => {
      const dx = [dy![0], dy![1], attributes.height, attributes.width];
      expectEqual(dy!, pooled(dx, attributes), 'pooling output gradient');
      return [dx];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, outputShapes: [dx] }) => [
      { kernel: 'average_pool_grad', inputs, outputs, params: parametersOf(dx, attributes) },
    ],
  }),

  /** Repeats each element factor × factor times. */
  upsample: defineOp<AttributesOf<'upsample'>>({
    shape: ([x], { factor }) => {
      const [n, channels, height, width] = ranked(x, 4, 'upsampling input');
      return [[n, channels, height * factor, width * factor]];
    },
    gradient: (graph, { attributes }, [dy]) => [dy === null ? null : graph.one('upsample_grad', [dy], attributes)],
    lower: ({ attributes: { factor }, inputs, outputs, shapes: [x] }) => [
      {
        kernel: 'upsample',
        inputs,
        outputs,
        params: { planes: x![0] * x![1], height: x![2], width: x![3], factor },
      },
    ],
  }),

  /** Input dy. */
  upsample_grad: defineOp<AttributesOf<'upsample_grad'>>({
    shape: ([dy], { factor }) => {
      const [n, channels, height, width] = ranked(dy, 4, 'upsampling output gradient');
      return [[n, channels, height / factor, width / factor]];
    },
    gradient: 'none',
    lower: ({ attributes: { factor }, inputs, outputs, outputShapes: [dx] }) => [
      {
        kernel: 'upsample_grad',
        inputs,
        outputs,
        params: { planes: dx[0] * dx[1], height: dx[2], width: dx[3], factor },
      },
    ],
  }),
};
