// Activations, sums, products, softmax.

import {
  geluCube,
  geluScale,
  leastOfLog,
  seluAlpha,
  seluScale,
  type ActivationName,
} from '../../../../kernels/activations.ts';
import type { AxesAttributes } from '../../../graph/attributes.ts';
import type { Shape } from '../../../graph/graph.ts';
import { cannotExport } from '../../refusal.ts';
import type { OnnxBuilder, ValueName } from '../builder.ts';
import { exportedBatch, type ExportRule, type OpExports } from '../op.ts';

/** f(x) as nodes. */
export function activate(onnx: OnnxBuilder, x: ValueName, activation: ActivationName, slope: number): ValueName {
  switch (activation) {
    case 'none':
      return x;
    case 'relu':
      return onnx.one('Relu', [x]);
    case 'leaky_relu':
      return onnx.one('LeakyRelu', [x], { alpha: { float: slope } });
    case 'gelu': {
      const erf = onnx.one('Erf', [onnx.one('Mul', [x, onnx.float([Math.SQRT1_2])])]);
      const half = onnx.one('Mul', [x, onnx.float([0.5])]);
      return onnx.one('Mul', [half, onnx.one('Add', [erf, onnx.float([1])])]);
    }
    case 'silu':
      return onnx.one('Mul', [x, onnx.one('Sigmoid', [x])]);
    case 'tanh':
      return onnx.one('Tanh', [x]);
    case 'sigmoid':
      return onnx.one('Sigmoid', [x]);
    case 'mish':
      return onnx.one('Mul', [x, onnx.one('Tanh', [onnx.one('Softplus', [x])])]);
    case 'selu':
      return onnx.one('Selu', [x], { alpha: { float: seluAlpha }, gamma: { float: seluScale } });
    case 'cosine': {
      // Whole turns are taken off first: exact, where the product with 2π would be rounded.
      const turn = onnx.one('Sub', [x, onnx.one('Floor', [x])]);
      return onnx.one('Cos', [onnx.one('Mul', [turn, onnx.float([2 * Math.PI])])]);
    }
    case 'log':
      return onnx.one('Log', [onnx.one('Max', [x, onnx.float([leastOfLog])])]);
    case 'soft_clip': {
      const scaled = onnx.one('Mul', [x, onnx.float([slope])]);
      const square = onnx.one('Add', [onnx.one('Mul', [scaled, scaled]), onnx.float([1])]);
      return onnx.one('Div', [x, onnx.one('Sqrt', [square])]);
    }
    case 'relu6':
      return onnx.one('Clip', [x, onnx.float([0]), onnx.float([6])]);
    case 'gelu_tanh': {
      const cube = onnx.one('Mul', [onnx.one('Mul', [x, x]), onnx.float([2 * geluScale * geluCube])]);
      const gate = onnx.one('Mul', [x, onnx.one('Add', [cube, onnx.float([2 * geluScale])])]);
      return onnx.one('Mul', [x, onnx.one('Sigmoid', [gate])]);
    }
    default:
      return activation satisfies never;
  }
}

const reduced =
  (op: 'ReduceSum' | 'ReduceMean'): ExportRule<AxesAttributes> =>
  ({ onnx, attributes: { axes, keep }, inputs: [x] }) => [
    onnx.one(op, [x, onnx.int64([...axes])], { keepdims: { int: keep ? 1 : 0 } }),
  ];

/** A shape to repeat something to: along the rows that is left to the operand. */
function repeated(from: Shape, to: Shape): readonly number[] {
  if (to[0] !== exportedBatch) return to;
  if (from.length !== to.length || from[0] !== to[0]) {
    throw cannotExport('The model repeats a value once a row, which ONNX cannot say.', 'Export it as safetensors.');
  }
  return [1, ...to.slice(1)];
}

export const elementwiseExports: OpExports<
  'activation' | 'add' | 'mul' | 'expand' | 'sum' | 'mean' | 'softmax' | 'matmul'
> = {
  activation: ({ onnx, attributes, inputs: [x] }) => [activate(onnx, x!, attributes.activation, attributes.slope)],
  add: ({ onnx, inputs }) => [onnx.one('Add', inputs)],
  mul: ({ onnx, inputs }) => [onnx.one('Mul', inputs)],
  expand: ({ onnx, attributes: { shape, scale }, inputs: [x], shapes: [from] }) => {
    const scaled = scale === 1 ? x! : onnx.one('Mul', [x, onnx.float([scale])]);
    return [onnx.one('Expand', [scaled, onnx.int64([...repeated(from!, shape)])])];
  },
  sum: reduced('ReduceSum'),
  mean: reduced('ReduceMean'),
  softmax: ({ onnx, inputs }) => [onnx.one('Softmax', inputs, { axis: { int: -1 } })],
  matmul: ({ onnx, attributes: { transposeA, transposeB, scale }, inputs: [a, b], shapes }) => {
    const turned = (value: ValueName | null, shape: Shape | null, turn: boolean): ValueName | null => {
      if (!turn) return value;
      const axes = shape!.map((_, axis) => axis);
      return onnx.one('Transpose', [value], { perm: { ints: [...axes.slice(0, -2), axes.at(-1)!, axes.at(-2)!] } });
    };
    const product = onnx.one('MatMul', [turned(a, shapes[0], transposeA), turned(b, shapes[1], transposeB)]);
    return [scale === 1 ? product : onnx.one('Mul', [product, onnx.float([scale])])];
  },
};
