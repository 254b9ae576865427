// The dense layer's product, forward and backward. N batch, I inputs, U units.

import { activationCodes } from '../../../kernels/activations.ts';
import type { DenseAttributes, DenseInputGradAttributes } from '../attributes.ts';
import { GraphError } from '../errors.ts';
import { defineOp, expectEqual, ranked } from '../op.ts';

const plain = { transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 };

export const denseOps = {
  /** y[N,U] = f(x[N,I] · w[I,U] + bias[U]); inputs x, w, bias?. */
  dense: defineOp<DenseAttributes>({
    shape: ([x, w, bias]) => {
      const [n, i] = ranked(x, 2, 'dense input');
      const [rows, units] = ranked(w, 2, 'dense weight');
      expectEqual([rows], [i], 'dense weight rows');
      if (bias) expectEqual(bias, [units], 'dense bias');
      return [[n, units]];
    },
    gradient: (graph, { inputs: [x, w, bias], attributes }, [dy]) => {
      if (attributes.activation !== 'none') throw new GraphError('differentiate before fusing activations');
      if (dy === null) return [null, null, null];
      const dx = graph.one('dense_input_grad', [dy, w, null], { derivative: 'none', slope: 0 });
      const [dw, db] = graph.apply('dense_weight_grad', [x, dy], { bias: bias !== null });
      return [dx, dw, bias === null ? null : db];
    },
    lower: ({ attributes, inputs: [x, w, bias], outputs: [y], shapes }) => [
      {
        kernel: 'matmul',
        inputs: [x, w, bias, null],
        outputs: [y],
        params: {
          m: shapes[0]![0],
          n: shapes[1]![1],
          k: shapes[0]![1],
          ...plain,
          activation: activationCodes[attributes.activation],
          slope: attributes.slope,
        },
      },
    ],
  }),

  /** dx[N,I] = (dy[N,U] · w[I,U]ᵀ) ⊙ f′(saved); inputs dy, w, saved?. */
  dense_input_grad: defineOp<DenseInputGradAttributes>({
    shape: ([dy, w]) => {
      const [n, units] = ranked(dy, 2, 'dense output gradient');
      const [i, columns] = ranked(w, 2, 'dense weight');
      expectEqual([columns], [units], 'dense weight columns');
      return [[n, i]];
    },
    gradient: 'none',
    lower: ({ attributes, inputs: [dy, w, saved], outputs: [dx], shapes }) => [
      {
        kernel: 'matmul',
        inputs: [dy, w, null, saved],
        outputs: [dx],
        params: {
          m: shapes[0]![0],
          n: shapes[1]![0],
          k: shapes[0]![1],
          ...plain,
          transposeB: 1,
          activation: activationCodes[attributes.derivative],
          gradient: attributes.derivative === 'none' ? 0 : 1,
          slope: attributes.slope,
        },
      },
    ],
  }),

  /** dw[I,U] = x[N,I]ᵀ · dy[N,U], db[U] = column sums of dy. */
  dense_weight_grad: defineOp<{ readonly bias: boolean }>({
    shape: ([x, dy], { bias }) => {
      const [n, i] = ranked(x, 2, 'dense input');
      const [rows, units] = ranked(dy, 2, 'dense output gradient');
      expectEqual([rows], [n], 'dense output gradient rows');
      return bias ? [[i, units], [units]] : [[i, units]];
    },
    gradient: 'none',
    lower: ({ inputs, outputs: [dw, db = null], shapes }) => [
      {
        kernel: 'dense_weight_grad',
        inputs,
        outputs: [dw, db],
        params: { batch: shapes[0]![0], inputs: shapes[0]![1], units: shapes[1]![1] },
      },
    ],
  }),
};
