// Ops that act on each element alone: activations and dropout.

import { activationCodes, derivativeFromOutput } from '../../../kernels/activations.ts';
import type { ActivationAttributes, AttributesOf, DropoutAttributes } from '../attributes.ts';
import { defineOp, expectEqual, reserved, sizeOf } from '../op.ts';

export const elementwiseOps = {
  /** y = f(x) */
  activation: defineOp<ActivationAttributes>({
    shape: ([x]) => [x!],
    gradient: (graph, { inputs: [x], outputs: [y], attributes }, [dy]) => {
      if (dy === null) return [null];
      const fromOutput = derivativeFromOutput.has(attributes.activation);
      return [graph.one('activation_grad', [dy, fromOutput ? y : x], { ...attributes, fromOutput })];
    },
    lower: ({ attributes, inputs: [x], outputs: [y], shapes }) => [
      {
        kernel: 'activation',
        inputs: [x],
        outputs: [y],
        params: {
          count: sizeOf(shapes[0]!),
          activation: activationCodes[attributes.activation],
          slope: attributes.slope,
        },
      },
    ],
  }),

  /** dx = dy ⊙ f′; inputs dy and the saved output (fromOutput) or input. */
  activation_grad: defineOp<AttributesOf<'activation_grad'>>({
    shape: ([dy, saved]) => {
      expectEqual(saved!, dy!, 'saved activation');
      return [dy!];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes }) => [
      {
        kernel: 'activation_grad',
        inputs,
        outputs,
        params: {
          count: sizeOf(shapes[0]!),
          activation: activationCodes[attributes.activation],
          slope: attributes.slope,
          fromOutput: attributes.fromOutput ? 1 : 0,
        },
      },
    ],
  }),

  /** Keeps an element with probability 1 − rate and scales it by 1/(1 − rate). Its gradient is itself, with the same mask. */
  dropout: defineOp<DropoutAttributes>({
    shape: ([x]) => [x!],
    gradient: (graph, { attributes }, [dy]) => [dy === null ? null : graph.one('dropout', [dy], attributes)],
    lower: ({ attributes: { rate, seed, stream, steps, scheduled }, inputs: [x], outputs: [y], shapes }) => [
      {
        kernel: 'dropout',
        inputs: [x, reserved('step.counters'), scheduled ? reserved('step.scalars') : null],
        outputs: [y],
        params: { count: sizeOf(shapes[0]!), rate, seed, stream, steps },
      },
    ],
  }),

  /** Dropout of whole channels of x [N,C,…]. Its gradient is itself, with the same mask. */
  dropout_channels: defineOp<DropoutAttributes>({
    shape: ([x]) => [x!],
    gradient: (graph, { attributes }, [dy]) => [dy === null ? null : graph.one('dropout_channels', [dy], attributes)],
    lower: ({ attributes: { rate, seed, stream, steps }, inputs: [x], outputs: [y], shapes }) => {
      const [n, channels, ...rest] = shapes[0]!;
      return [
        {
          kernel: 'dropout_channels',
          inputs: [x, reserved('step.counters')],
          outputs: [y],
          params: { planes: n * channels, inner: sizeOf(rest), rate, seed, stream, steps },
        },
      ];
    },
  }),
};
