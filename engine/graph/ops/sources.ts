// Where values come from and where results go: the batch gathered from the resident rows or images, parameters and states by name,
// and the ring that keeps a submit's outputs.

import type { BatchAttributes, ImageBatchAttributes, NamedAttributes } from '../attributes.ts';
import { defineOp, reserved, sizeOf } from '../op.ts';

/** The stream of random numbers augmentation draws from; see engine/optim/random.ts. */
export const augmentationStream = 2000;

export const sourceOps = {
  /** Outputs: x [batch,width], y [batch,targets]. */
  batch: defineOp<BatchAttributes>({
    shape: (_, a) => [
      [a.batch, a.width],
      [a.batch, a.targets],
    ],
    gradient: 'none',
    lower: ({ attributes: { batch, rows, width, targets, steps }, outputs: [x, y] }) => [
      {
        kernel: 'gather_rows',
        inputs: [reserved('data.x'), reserved('data.y'), reserved('step.indices')],
        outputs: [x, y],
        params: { rows, width, targets, batch, steps },
      },
    ],
  }),

  /** Outputs: x [batch,channels,height,width], normalised and augmented; y [batch,targets] or [batch,classes]. */
  batch_images: defineOp<ImageBatchAttributes>({
    shape: (_, a) => [
      [a.batch, ...a.shape],
      [a.batch, a.classes > 0 ? a.classes : a.targets],
    ],
    gradient: 'none',
    lower: ({ attributes: { shape, augmentation, ...counts }, outputs: [x, y] }) => {
      const [channels, height, width] = shape;
      const images = [reserved('data.x'), reserved('data.y'), reserved('step.indices')];
      const scalars = augmentation.mixup > 0 ? reserved('step.scalars') : null;
      return [
        {
          kernel: 'gather_images',
          inputs: [...images, reserved('data.normalization'), scalars, reserved('step.counters')],
          outputs: [x, y],
          params: { ...counts, channels, height, width, stream: augmentationStream, ...augmentation },
        },
      ];
    },
  }),

  /** A trained tensor, by name. */
  parameter: defineOp<NamedAttributes>({
    shape: (_, a) => [a.shape],
    types: (_, { type = 'f32' }) => [type],
    gradient: 'none',
    lower: () => [],
  }),

  /** A tensor that is kept but not trained (running statistics, class weights), by name. */
  state: defineOp<NamedAttributes>({
    shape: (_, a) => [a.shape],
    types: (_, { type = 'f32' }) => [type],
    gradient: 'none',
    lower: () => [],
  }),

  /** Appends a step's outputs to `ring.outputs`. */
  store_outputs: defineOp<{ readonly steps: number }>({
    shape: () => [],
    gradient: 'none',
    effect: true,
    lower: ({ attributes, inputs: [x], shapes }) => [
      {
        kernel: 'store_rows',
        inputs: [x],
        outputs: [reserved('ring.outputs')],
        params: { count: sizeOf(shapes[0]!), steps: attributes.steps },
      },
    ],
  }),
};
