// Where values come from and where results go: the batch gathered from the resident rows, parameters and states by name,
// and the ring that keeps a submit's outputs.

import type { BatchAttributes, NamedAttributes } from '../attributes.ts';
import { defineOp, sizeOf } from '../op.ts';

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
        inputs: [{ tensor: 'data.x' }, { tensor: 'data.y' }, { tensor: 'step.indices' }],
        outputs: [x, y],
        params: { rows, width, targets, batch, steps },
      },
    ],
  }),

  /** A trained tensor, by name. */
  parameter: defineOp<NamedAttributes>({
    shape: (_, a) => [a.shape],
    gradient: 'none',
    lower: () => [],
  }),

  /** A tensor that is kept but not trained (running statistics, class weights), by name. */
  state: defineOp<NamedAttributes>({
    shape: (_, a) => [a.shape],
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
        outputs: [{ tensor: 'ring.outputs' }],
        params: { count: sizeOf(shapes[0]!), steps: attributes.steps },
      },
    ],
  }),
};
