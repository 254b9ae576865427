// Batch, layer and group normalisation. x is [N, C] or [N, C, …]: channels are dimension 1, `inner` is what follows it.
// Batch norm: Ioffe & Szegedy 2015; layer norm: Ba, Kiros & Hinton 2016; RMS norm: Zhang & Sennrich 2019; group norm: Wu & He 2018; running statistics as PyTorch
// keeps them.

import { activationCodes } from '../../../kernels/activations.ts';
import type { AttributesOf, BatchNormAttributes, GroupNormAttributes } from '../attributes.ts';
import type { Shape } from '../graph.ts';
import { GraphError, formatShape } from '../errors.ts';
import { defineOp, expectEqual, sizeOf } from '../op.ts';
import { rowsOf } from '../shapes.ts';

function channels(x: Shape | null): { outer: number; channels: number; inner: number } {
  if (!x || x.length < 2) throw new GraphError(`batch norm needs [N,C,…], got ${x ? formatShape(x) : 'nothing'}`);
  return { outer: x[0], channels: x[1], inner: sizeOf(x.slice(2)) };
}

export const normalizationOps = {
  /** y = f(normalised x); inputs x, gamma, beta; outputs y, mean, 1/deviation of the batch. */
  batch_norm: defineOp<BatchNormAttributes>({
    shape: ([x]) => {
      const { channels: c } = channels(x);
      return [x!, [c], [c]];
    },
    effect: true,
    again: (attributes) => ({ ...attributes, momentum: 0 }),
    gradient: (graph, { inputs: [x, gamma], outputs: [, mean, inverse], attributes }, [dy]) => {
      if (attributes.activation !== 'none') throw new GraphError('differentiate before fusing activations');
      return dy === null ? [null, null, null] : graph.apply('batch_norm_grad', [dy, x, gamma, mean, inverse], {});
    },
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      {
        kernel: 'batch_norm',
        inputs,
        outputs: [...outputs, { state: attributes.runningMean }, { state: attributes.runningVariance }],
        params: {
          ...channels(x),
          epsilon: attributes.epsilon,
          momentum: attributes.momentum,
          activation: activationCodes[attributes.activation],
          slope: attributes.slope,
        },
      },
    ],
  }),

  /** Inputs x, gamma, beta, running mean, running variance. Linear in x, whose gradient alone there is: gamma and beta are trained over batches. */
  batch_norm_inference: defineOp<AttributesOf<'layer_norm'>>({
    shape: ([x]) => [x!],
    gradient: (graph, { inputs: [, gamma, beta, , variance], attributes }, [dy]) => {
      if (dy === null) return [null, null, null, null, null];
      const zero = graph.one('expand', [beta!], { shape: graph.shape(beta!), scale: 0 });
      const dx = graph.one('batch_norm_inference', [dy, gamma!, zero, zero, variance!], attributes);
      return [dx, null, null, null, null];
    },
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      { kernel: 'batch_norm_inference', inputs, outputs, params: { ...channels(x), epsilon: attributes.epsilon } },
    ],
  }),

  /** Inputs dy, x, gamma, mean, 1/deviation; outputs dx, dgamma, dbeta. */
  batch_norm_grad: defineOp<AttributesOf<'layer_norm_grad'>>({
    shape: ([, x, gamma]) => [x!, gamma!, gamma!],
    gradient: 'none',
    lower: ({ inputs, outputs, shapes: [, x] }) => [
      { kernel: 'batch_norm_grad', inputs, outputs, params: channels(x) },
    ],
  }),

  /** Over the last axis: inputs x […,width], gamma, beta; outputs y, mean, 1/deviation of each row […]. */
  layer_norm: defineOp<AttributesOf<'layer_norm'>>({
    shape: ([x, gamma, beta]) => {
      const { width } = rowsOf(x, 'layer norm');
      expectEqual(gamma!, [width], 'layer norm weight');
      expectEqual(beta!, [width], 'layer norm bias');
      return [x!, x!.slice(0, -1), x!.slice(0, -1)];
    },
    gradient: (graph, { inputs: [x, gamma], outputs: [, mean, inverse] }, [dy]) =>
      dy === null ? [null, null, null] : graph.apply('layer_norm_grad', [dy, x, gamma, mean, inverse], {}),
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      { kernel: 'layer_norm', inputs, outputs, params: { ...rowsOf(x, 'layer norm'), epsilon: attributes.epsilon } },
    ],
  }),

  /** Inputs dy, x, gamma, mean, 1/deviation; outputs dx, dgamma, dbeta. */
  layer_norm_grad: defineOp<AttributesOf<'layer_norm_grad'>>({
    shape: ([, x, gamma]) => [x!, gamma!, gamma!],
    gradient: 'none',
    lower: ({ inputs, outputs, shapes: [, x] }) => [
      { kernel: 'layer_norm_grad', inputs, outputs, params: rowsOf(x, 'layer norm') },
    ],
  }),

  /** Inputs x, gamma; outputs y and 1/root mean square of each row. */
  rms_norm: defineOp<AttributesOf<'rms_norm'>>({
    shape: ([x]) => [x!, [rowsOf(x, 'RMS norm').rows]],
    gradient: (graph, { inputs: [x, gamma], outputs: [, inverse] }, [dy]) =>
      dy === null ? [null, null] : graph.apply('rms_norm_grad', [dy, x, gamma, inverse], {}),
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => [
      { kernel: 'rms_norm', inputs, outputs, params: { ...rowsOf(x, 'RMS norm'), epsilon: attributes.epsilon } },
    ],
  }),

  /** Inputs dy, x, gamma, 1/root mean square; outputs dx, dgamma. */
  rms_norm_grad: defineOp<AttributesOf<'rms_norm_grad'>>({
    shape: ([, x, gamma]) => [x!, gamma!],
    gradient: 'none',
    lower: ({ inputs, outputs, shapes: [, x] }) => [
      { kernel: 'rms_norm_grad', inputs, outputs, params: rowsOf(x, 'RMS norm') },
    ],
  }),

  /** Inputs x [N,C,…], gamma, beta; outputs y, mean, 1/deviation of each group of channels of each example. */
  group_norm: defineOp<GroupNormAttributes>({
    shape: ([x], { groups }) => [x!, [x![0], groups], [x![0], groups]],
    gradient: (graph, { inputs: [x, gamma], outputs: [, mean, inverse], attributes: { groups } }, [dy]) =>
      dy === null ? [null, null, null] : graph.apply('group_norm_grad', [dy, x, gamma, mean, inverse], { groups }),
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => {
      const { outer: batch, ...rest } = channels(x);
      return [{ kernel: 'group_norm', inputs, outputs, params: { batch, ...rest, ...attributes } }];
    },
  }),

  /** Inputs dy, x, gamma, mean, 1/deviation; outputs dx, dgamma, dbeta. */
  group_norm_grad: defineOp<AttributesOf<'group_norm_grad'>>({
    shape: ([, x, gamma]) => [x!, gamma!, gamma!],
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [, x] }) => {
      const { outer: batch, ...rest } = channels(x);
      return [{ kernel: 'group_norm_grad', inputs, outputs, params: { batch, ...rest, ...attributes } }];
    },
  }),
};
