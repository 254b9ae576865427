// Losses: one kernel computes the value and its gradient together, so a loss is the root of differentiation. The value goes
// to `ring.loss` at the step's place; output 0 stands for it in the graph. With `training`, output 1 is the gradient
// of the loss by the first input.

import { regressionLossKinds } from '../../../kernels/regression_loss/kernel.ts';
import type { CrossEntropyAttributes, LossAttributes, RegressionLossAttributes } from '../attributes.ts';
import type { Shape } from '../graph.ts';
import type { LowerContext } from '../op.ts';
import { defineOp, expectEqual, ranked, reserved, sizeOf } from '../op.ts';

const lossShape = (prediction: Shape, { training }: LossAttributes): readonly Shape[] =>
  training ? [[1], prediction] : [[1]];

const lossGradient = (
  _: unknown,
  { outputs, inputs }: { readonly outputs: readonly number[]; readonly inputs: readonly (number | null)[] },
) => inputs.map((__, i) => (i === 0 ? outputs[1] : null));

const ring = ({ outputs }: LowerContext<LossAttributes>) => [reserved('ring.loss'), outputs[1] ?? null];

export const lossOps = {
  /** Inputs logits [N,K], target [N,1] (class number), class weights? [K]. */
  softmax_cross_entropy: defineOp<CrossEntropyAttributes>({
    shape: ([logits, target], attributes) => {
      const [n] = ranked(logits, 2, 'logits');
      expectEqual(target!, [n, 1], 'target');
      return lossShape(logits!, attributes);
    },
    effect: true,
    gradient: lossGradient,
    lower: (context) => [
      {
        kernel: 'softmax_cross_entropy',
        inputs: context.inputs,
        outputs: ring(context),
        params: {
          batch: context.shapes[0]![0],
          classes: context.shapes[0]![1],
          smoothing: context.attributes.smoothing,
          steps: context.attributes.steps,
        },
      },
    ],
  }),

  /** Inputs logits [N,K], target [N,K] (share of each class), class weights? [K]. */
  soft_cross_entropy: defineOp<CrossEntropyAttributes>({
    shape: ([logits, target], attributes) => {
      ranked(logits, 2, 'logits');
      expectEqual(target!, logits!, 'target shares');
      return lossShape(logits!, attributes);
    },
    effect: true,
    gradient: lossGradient,
    lower: (context) => [
      {
        kernel: 'soft_cross_entropy',
        inputs: context.inputs,
        outputs: ring(context),
        params: {
          batch: context.shapes[0]![0],
          classes: context.shapes[0]![1],
          smoothing: context.attributes.smoothing,
          steps: context.attributes.steps,
        },
      },
    ],
  }),

  /** Inputs logits [N,1], target [N,1] (0 or 1), weights? [2]. */
  binary_cross_entropy: defineOp<CrossEntropyAttributes>({
    shape: ([logits, target], attributes) => {
      expectEqual(ranked(logits, 2, 'logits').slice(1), [1], 'logits columns');
      expectEqual(target!, logits!, 'target');
      return lossShape(logits!, attributes);
    },
    effect: true,
    gradient: lossGradient,
    lower: (context) => [
      {
        kernel: 'binary_cross_entropy',
        inputs: context.inputs,
        outputs: ring(context),
        params: {
          batch: context.shapes[0]![0],
          smoothing: context.attributes.smoothing,
          steps: context.attributes.steps,
        },
      },
    ],
  }),

  /** Inputs prediction [N,T], target [N,T]. */
  regression_loss: defineOp<RegressionLossAttributes>({
    shape: ([prediction, target], attributes) => {
      expectEqual(target!, prediction!, 'target');
      return lossShape(prediction!, attributes);
    },
    effect: true,
    gradient: lossGradient,
    lower: (context) => {
      const [batch, ...rest] = context.shapes[0]!;
      return [
        {
          kernel: 'regression_loss',
          inputs: context.inputs,
          outputs: ring(context),
          params: {
            batch,
            targets: sizeOf(rest),
            kind: regressionLossKinds[context.attributes.kind],
            delta: context.attributes.delta,
            steps: context.attributes.steps,
          },
        },
      ];
    },
  }),
};
