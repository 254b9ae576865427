// Tokens, attention over them and what is taken of a sequence. The number of rows is open: it only ever is a first size.

import { pairFactor } from '../../../../kernels/token-codes.ts';
import type { TextAttributes } from '../../../graph/attributes.ts';
import type { OnnxBuilder, ValueName } from '../builder.ts';
import type { OpExports } from '../op.ts';

/** What a score is lowered by where a position does not see another. */
const unseen = -1e30;

function codesOf(onnx: OnnxBuilder, rows: ValueName, { column, length }: TextAttributes): ValueName {
  return onnx.one('Slice', [rows, onnx.int64([column]), onnx.int64([column + length]), onnx.int64([1])]);
}

const upTo = (count: number, first = 0): readonly number[] => Array.from({ length: count }, (_, i) => first + i);

/** [N, length], 1 where a position is one of the first `lengths` [N], else 0. */
function realPositions(onnx: OnnxBuilder, lengths: ValueName, length: number): ValueName {
  const column = onnx.one('Reshape', [lengths, onnx.int64([-1, 1])]);
  return onnx.cast(onnx.one('Less', [onnx.float(upTo(length), [1, length]), column]), 'float');
}

/** Codes [N, length] of each token with the one behind it, as `rowAt` of kernels/token-codes.ts has their rows, + 1; 0 where there is none. */
function pairCodes(onnx: OnnxBuilder, codes: ValueName, length: number, rows: number): ValueName {
  const whole = onnx.cast(codes, 'int64');
  const nothing = onnx.one('Mul', [
    onnx.one('Slice', [whole, onnx.int64([0]), onnx.int64([1]), onnx.int64([1])]),
    onnx.int64([0]),
  ]);
  const behind = onnx.one('Slice', [whole, onnx.int64([1]), onnx.int64([length]), onnx.int64([1])]);
  const next = onnx.one('Concat', [behind, nothing], { axis: { int: 1 } });
  const sum = onnx.one('Add', [onnx.one('Mul', [whole, onnx.int64([pairFactor])]), next]);
  const row = onnx.one('Add', [onnx.one('Mod', [sum, onnx.int64([rows])]), onnx.int64([1])]);
  const both = onnx.one('Min', [onnx.one('Mul', [whole, next]), onnx.int64([1])]);
  return onnx.one('Mul', [row, both]);
}

export const sequenceExports: OpExports<
  | 'text_lengths'
  | 'token_embedding'
  | 'attention'
  | 'recurrence'
  | 'unfold'
  | 'rotary'
  | 'positions_mask'
  | 'pool_positions'
> = {
  text_lengths: ({ onnx, attributes, inputs: [rows] }) => {
    const codes = codesOf(onnx, rows!, attributes);
    const real = onnx.cast(onnx.one('Greater', [codes, onnx.float([0])]), 'float');
    const places = onnx.one('Mul', [real, onnx.float(upTo(attributes.length, 1), [1, attributes.length])]);
    const last = onnx.one('ReduceMax', [places, onnx.int64([1])], { keepdims: { int: 0 } });
    return [onnx.one('Max', [last, onnx.float([1])])];
  },
  // A row of zeros in front stands for padding.
  token_embedding: ({ onnx, attributes, inputs: [table, rows], shapes: [shape] }) => {
    const [vocabulary, width] = shape!;
    const zeros = onnx.float(new Array<number>(width).fill(0), [1, width]);
    const padded = onnx.one('Concat', [zeros, table], { axis: { int: 0 } });
    const own = codesOf(onnx, rows!, attributes);
    const codes = attributes.pairs
      ? pairCodes(onnx, own, attributes.length, vocabulary)
      : onnx.one('Min', [own, onnx.float([vocabulary])]);
    return [onnx.one('Gather', [padded, onnx.cast(codes, 'int64')], { axis: { int: 0 } })];
  },
  attention: ({ onnx, attributes, inputs: [qkv, lengths], shapes: [shape] }) => {
    const { heads, groups, causal, scale } = attributes;
    const [, length, width] = shape!;
    const size = width / (heads + 2 * groups);
    const each = heads / groups;
    // [N, groups, heads of each, length, size]; keys and values serve all heads of their group.
    const part = (first: number, count: number): ValueName => {
      const band = onnx.one('Slice', [
        qkv,
        onnx.int64([first * size]),
        onnx.int64([(first + count) * size]),
        onnx.int64([2]),
      ]);
      const split = onnx.one('Reshape', [band, onnx.int64([-1, length, groups, count / groups, size])]);
      return onnx.one('Transpose', [split], { perm: { ints: [0, 2, 3, 1, 4] } });
    };
    const [q, k, v] = [part(0, heads), part(heads, groups), part(heads + groups, groups)];
    const turned = onnx.one('Transpose', [k], { perm: { ints: [0, 1, 2, 4, 3] } });
    let scores = onnx.one('Mul', [onnx.one('MatMul', [q, turned]), onnx.float([scale])]);
    const real = lengths ? realPositions(onnx, lengths, length) : null;
    if (real !== null) {
      const hidden = onnx.one('Mul', [onnx.one('Sub', [onnx.float([1]), real]), onnx.float([unseen])]);
      scores = onnx.one('Add', [scores, onnx.one('Reshape', [hidden, onnx.int64([-1, 1, 1, 1, length])])]);
    }
    if (causal) {
      const behind = upTo(length * length).map((i) => (i % length > Math.floor(i / length) ? unseen : 0));
      scores = onnx.one('Add', [scores, onnx.float(behind, [1, 1, 1, length, length])]);
    }
    const mixed = onnx.one('MatMul', [onnx.one('Softmax', [scores], { axis: { int: -1 } }), v]);
    const back = onnx.one('Transpose', [mixed], { perm: { ints: [0, 3, 1, 2, 4] } });
    const y = onnx.one('Reshape', [back, onnx.int64([-1, length, groups * each * size])]);
    if (real === null) return [y];
    return [onnx.one('Mul', [y, onnx.one('Reshape', [real, onnx.int64([-1, length, 1])])])];
  },
  // ONNX has the products with the input within: they are there already, so its weights are those of identity, its gates in ONNX's order.
  recurrence: ({ onnx, attributes: { cell, reverse }, inputs: [x, w, bias, lengths], shapes: [, shape] }) => {
    const [units, width] = shape!;
    const order = cell === 'lstm' ? [0, 3, 1, 2] : [1, 0, 2];
    const places = order.flatMap((gate) => upTo(units, gate * units));
    const inOrder = (value: ValueName, axis: number): ValueName =>
      onnx.one('Gather', [value, onnx.int64(places)], { axis: { int: axis } });
    const identity = places.flatMap((place) => upTo(width).map((column) => (column === place ? 1 : 0)));
    const recurrent = onnx.one('Transpose', [inOrder(w!, 1)], { perm: { ints: [1, 0] } });
    const biases = onnx.one('Concat', [onnx.float(new Array<number>(width).fill(0), [width]), inOrder(bias!, 0)], {
      axis: { int: 0 },
    });
    const inputs = [
      onnx.one('Transpose', [x!], { perm: { ints: [1, 0, 2] } }),
      onnx.float(identity, [1, width, width]),
      onnx.one('Reshape', [recurrent, onnx.int64([1, width, units])]),
      onnx.one('Reshape', [biases, onnx.int64([1, 2 * width])]),
      ...(lengths ? [onnx.cast(lengths, 'int32')] : []),
    ];
    const y = onnx.first(cell === 'lstm' ? 'LSTM' : 'GRU', inputs, cell === 'lstm' ? 3 : 2, {
      hidden_size: { int: units },
      direction: { text: reverse ? 'reverse' : 'forward' },
      ...(cell === 'gru' ? { linear_before_reset: { int: 1 } } : {}),
    });
    // [L, 1, N, U]
    const turned = onnx.one('Transpose', [y], { perm: { ints: [2, 0, 1, 3] } });
    return [onnx.one('Reshape', [turned, onnx.int64([0, 0, units])])];
  },
  unfold: ({ onnx, attributes: { taps, before, dilation }, inputs: [x, lengths], shapes: [shape] }) => {
    const [, length] = shape!;
    const column = onnx.int64([-1, length, 1]);
    const real = lengths
      ? onnx.one('Mul', [x!, onnx.one('Reshape', [realPositions(onnx, lengths, length), column])])
      : x!;
    const behind = Math.max(0, (taps - 1) * dilation - before);
    const padded = onnx.one('Pad', [real, onnx.int64([0, before, 0, 0, behind, 0])]);
    const tap = (k: number): ValueName => {
      const first = k * dilation;
      return onnx.one('Slice', [padded, ...[first, first + length, 1].map((at) => onnx.int64([at]))]);
    };
    return [onnx.one('Concat', upTo(taps).map(tap), { axis: { int: 2 } })];
  },
  // The halves of each head change places, the first of them negated: y = x·cos + turned·sin.
  rotary: ({ onnx, attributes: { heads, size }, inputs: [x, table], shapes: [shape] }) => {
    const [, length, width] = shape!;
    const half = size / 2;
    const band = (value: ValueName, first: number, end: number, axis: number): ValueName =>
      onnx.one('Slice', [value, ...[first, end, axis].map((at) => onnx.int64([at]))]);
    const each = onnx.one('Reshape', [band(x!, 0, heads * size, 2), onnx.int64([-1, length, heads, 2, half])]);
    const turns = onnx.one('Reshape', [table, onnx.int64([1, length, 1, 2, half])]);
    const [first, second] = [0, 1].map((at) => band(each, at, at + 1, 3));
    const [cos, sin] = [0, 1].map((at) => band(turns, at, at + 1, 3));
    const turned = onnx.one('Concat', [onnx.one('Neg', [second]), first], { axis: { int: 3 } });
    const sum = onnx.one('Add', [onnx.one('Mul', [each, cos]), onnx.one('Mul', [turned, sin])]);
    const back = onnx.one('Reshape', [sum, onnx.int64([-1, length, heads * size])]);
    if (heads * size === width) return [back];
    return [onnx.one('Concat', [back, band(x!, heads * size, width, 2)], { axis: { int: 2 } })];
  },
  positions_mask: ({ onnx, attributes: { length, inside, outside }, inputs: [lengths] }) => {
    const real = realPositions(onnx, lengths!, length);
    return [onnx.one('Add', [onnx.one('Mul', [real, onnx.float([inside - outside])]), onnx.float([outside])])];
  },
  pool_positions: ({ onnx, attributes: { pool }, inputs: [x, lengths], shapes: [shape] }) => {
    const [, length] = shape!;
    const axis = onnx.int64([1]);
    const sum = (shares: ValueName): ValueName => {
      const column = onnx.one('Reshape', [shares, onnx.int64([-1, length, 1])]);
      return onnx.one('ReduceSum', [onnx.one('Mul', [x, column]), axis], { keepdims: { int: 0 } });
    };
    if (pool === 'mean' && lengths) {
      return [
        onnx.one('Div', [
          sum(realPositions(onnx, lengths, length)),
          onnx.one('Reshape', [lengths, onnx.int64([-1, 1])]),
        ]),
      ];
    }
    if (pool === 'mean') return [onnx.one('ReduceMean', [x, axis], { keepdims: { int: 0 } })];
    if (pool === 'last' && lengths) {
      const column = onnx.one('Reshape', [lengths, onnx.int64([-1, 1])]);
      const chosen = onnx.one('Equal', [onnx.float(upTo(length, 1), [1, length]), column]);
      return [sum(onnx.cast(chosen, 'float'))];
    }
    const place = onnx.int64([pool === 'first' ? 0 : length - 1], []);
    return [onnx.one('Gather', [x, place], { axis: { int: 1 } })];
  },
};
