// Recurrent layers over sequences. N batch, L positions, U units, G gates. Padding stands behind the last token of a row; `lengths` [N] says how many it
// has (none: all L are real).

import { cellGates, keptRows, recurrenceProblem } from '../../../kernels/recurrence-shape.ts';
import type { RecurrenceAttributes } from '../attributes.ts';
import { GraphError } from '../errors.ts';
import type { GraphBuilder, Shape, ValueId } from '../graph.ts';
import { defineOp, expectEqual, ranked, sizeOf } from '../op.ts';

/** The kernel's parameters for x [N,L,G·U] and w [U,G·U]. */
function recurrenceParams(x: Shape | null, w: Shape | null, { cell, reverse }: RecurrenceAttributes) {
  const [batch, length] = ranked(x, 3, 'recurrent input');
  const [units] = ranked(w, 2, 'recurrent weights');
  const gates = cellGates[cell];
  expectEqual(w!, [units, gates * units], 'recurrent weights');
  expectEqual(x!, [batch, length, gates * units], 'recurrent input');
  const params = { batch, length, units, gates, reverse: reverse ? 1 : 0 };
  const problem = recurrenceProblem(params);
  if (problem !== null) throw new GraphError(problem);
  return params;
}

/** Positions of the batch below each other. */
function rows(graph: GraphBuilder, value: ValueId): ValueId {
  const [batch, length, width] = graph.shape(value);
  return graph.one('reshape', [value], { shape: [batch * length, width] });
}

export const recurrenceOps = {
  /** y[N,L,U]; inputs x [N,L,G·U] (products with the input's weights), w [U,G·U], bias [G·U], lengths?. The second output is kept for the gradient. */
  recurrence: defineOp<RecurrenceAttributes>({
    shape: ([x, w, bias, lengths], attributes) => {
      const { batch, length, units, gates } = recurrenceParams(x, w, attributes);
      expectEqual(bias!, [gates * units], 'recurrent bias');
      if (lengths) expectEqual(lengths, [batch], 'lengths');
      return [
        [batch, length, units],
        [batch, length, keptRows(gates) * units],
      ];
    },
    gradient: (graph, { inputs: [, w, , lengths], outputs: [y, kept], attributes }, [dy]) => {
      if (dy === null) return [null, null, null, null];
      const [dx, previous, dh = dx] = graph.apply('recurrence_grad', [dy, kept, y, w, lengths], attributes);
      const [dw, db] = graph.apply('dense_weight_grad', [rows(graph, previous), rows(graph, dh)], { bias: true });
      return [dx, dw, db, null];
    },
    lower: ({ attributes, inputs, outputs, shapes: [x, w] }) => [
      { kernel: 'recurrence', inputs, outputs, params: recurrenceParams(x, w, attributes) },
    ],
  }),

  /** dx, previous y of each position and, of a GRU, dh; inputs dy, kept, y, w, lengths?. */
  recurrence_grad: defineOp<RecurrenceAttributes>({
    shape: ([dy, kept, y, w], { cell }) => {
      expectEqual(dy!, y!, 'recurrent output gradient');
      const [batch, length, units] = y!;
      const gates = cellGates[cell];
      expectEqual(kept!, [batch, length, keptRows(gates) * units], 'what a recurrent layer keeps');
      const wide = [batch, length, sizeOf(w!) / units];
      return cell === 'lstm' ? [wide, y!] : [wide, y!, wide];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs: [dx, previous, dh = null], shapes: [, , , w], outputShapes: [wide] }) => [
      {
        kernel: 'recurrence_grad',
        inputs,
        outputs: [dx, dh, previous],
        params: recurrenceParams(wide, w, attributes),
      },
    ],
  }),
};
