// Dense layers, embeddings, norms, and what moves elements without changing them.

import type { OpExports } from '../op.ts';
import { activate } from './elementwise.ts';

export const shapeExports: OpExports<
  | 'dense'
  | 'embedding'
  | 'batch_norm_inference'
  | 'layer_norm'
  | 'rms_norm'
  | 'group_norm'
  | 'reshape'
  | 'transpose'
  | 'concat'
  | 'slice'
  | 'gather'
> = {
  dense: ({ onnx, attributes, inputs: [x, w, bias] }) => {
    const y = onnx.one('Gemm', bias ? [x, w, bias] : [x, w]);
    return [activate(onnx, y, attributes.activation, attributes.slope)];
  },
  embedding: ({ onnx, attributes: { column }, inputs: [table, codes] }) => {
    const code = onnx.one('Gather', [codes, onnx.int64([column], [])], { axis: { int: 1 } });
    return [onnx.one('Gather', [table, onnx.cast(code, 'int64')], { axis: { int: 0 } })];
  },
  batch_norm_inference: ({ onnx, attributes: { epsilon }, inputs }) => [
    onnx.one('BatchNormalization', inputs, { epsilon: { float: epsilon } }),
  ],
  layer_norm: ({ onnx, attributes: { epsilon }, inputs }) => [
    onnx.one('LayerNormalization', inputs, { axis: { int: -1 }, epsilon: { float: epsilon } }),
  ],
  rms_norm: ({ onnx, attributes: { epsilon }, inputs: [x, gamma], shapes: [shape] }) => {
    const last = onnx.int64([shape!.length - 1]);
    const mean = onnx.one('ReduceMean', [onnx.one('Mul', [x, x]), last], { keepdims: { int: 1 } });
    const root = onnx.one('Sqrt', [onnx.one('Add', [mean, onnx.float([epsilon])])]);
    return [onnx.one('Mul', [onnx.one('Div', [x, root]), gamma])];
  },
  // Each group is a channel of an instance norm; ONNX has no group norm before version 18.
  group_norm: ({ onnx, attributes: { groups, epsilon }, inputs: [x, gamma, beta], shapes: [shape] }) => {
    const [, channels, ...rest] = shape!;
    const [ones, zeros] = [1, 0].map((value) => onnx.float(new Array<number>(groups).fill(value), [groups]));
    const grouped = onnx.one('Reshape', [x, onnx.int64([0, groups, -1])]);
    const normed = onnx.one('InstanceNormalization', [grouped, ones, zeros], { epsilon: { float: epsilon } });
    const back = onnx.one('Reshape', [normed, onnx.int64([-1, channels, ...rest])]);
    const wide = onnx.int64([channels, ...rest.map(() => 1)]);
    const scaled = onnx.one('Mul', [back, onnx.one('Reshape', [gamma, wide])]);
    return [onnx.one('Add', [scaled, onnx.one('Reshape', [beta, wide])])];
  },
  // The rows are always in the first size: whatever the others leave.
  reshape: ({ onnx, attributes: { shape }, inputs: [x] }) => [
    onnx.one('Reshape', [x, onnx.int64([-1, ...shape.slice(1)])]),
  ],
  transpose: ({ onnx, attributes: { permutation }, inputs }) => [
    onnx.one('Transpose', inputs, { perm: { ints: permutation } }),
  ],
  concat: ({ onnx, attributes: { axis }, inputs }) => [onnx.one('Concat', inputs, { axis: { int: axis } })],
  slice: ({ onnx, attributes: { axis, offset, size }, inputs: [x] }) => [
    onnx.one('Slice', [x, onnx.int64([offset]), onnx.int64([offset + size]), onnx.int64([axis])]),
  ],
  gather: ({ onnx, attributes: { axis }, inputs: [x, indices] }) => [
    onnx.one('Gather', [x, onnx.cast(indices!, 'int64')], { axis: { int: axis } }),
  ],
};
