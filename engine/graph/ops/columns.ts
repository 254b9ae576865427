// Joining and cutting matrices by columns. All inputs are [rows, width].

import type { AttributesOf, ColumnsAttributes } from '../attributes.ts';
import { GraphError } from '../errors.ts';
import type { LoweredOperand } from '../op.ts';
import { defineOp, ranked } from '../op.ts';

interface Band {
  readonly rows: number;
  readonly columns: number;
  readonly sourceWidth: number;
  readonly sourceOffset: number;
  readonly targetWidth: number;
  readonly targetOffset: number;
}

const copy = (source: LoweredOperand, target: LoweredOperand, band: Band) => ({
  kernel: 'copy_columns',
  inputs: [source],
  outputs: [target],
  params: { ...band },
});

export const columnOps = {
  /** Joins matrices side by side. */
  concat: defineOp<AttributesOf<'concat'>>({
    shape: (inputs) => {
      const [rows] = ranked(inputs[0], 2, 'concat input');
      let width = 0;
      for (const input of inputs) {
        const [n, columns] = ranked(input, 2, 'concat input');
        if (n !== rows) throw new GraphError(`concat joins ${rows} rows with ${n}`);
        width += columns;
      }
      return [[rows, width]];
    },
    gradient: (graph, { inputs }, [dy]) => {
      let offset = 0;
      return inputs.map((input) => {
        const width = graph.shape(input!)[1];
        const gradient = dy === null ? null : graph.one('slice', [dy], { offset, width });
        offset += width;
        return gradient;
      });
    },
    lower: ({ inputs, outputs: [y], shapes, outputShapes: [[rows, targetWidth]] }) => {
      let targetOffset = 0;
      return inputs.map((input, i) => {
        const columns = shapes[i]![1];
        const call = copy(input, y, {
          rows,
          columns,
          sourceWidth: columns,
          sourceOffset: 0,
          targetWidth,
          targetOffset,
        });
        targetOffset += columns;
        return call;
      });
    },
  }),

  /** `width` columns from `offset` on; of the input alone, so nothing is differentiated through it. */
  slice: defineOp<ColumnsAttributes>({
    shape: ([x], { offset, width }) => {
      const [rows, columns] = ranked(x, 2, 'slice input');
      if (offset < 0 || offset + width > columns) {
        throw new GraphError(`slice of columns ${offset}…${offset + width} from ${columns}`);
      }
      return [[rows, width]];
    },
    gradient: 'none',
    lower: ({ attributes: { offset, width }, inputs: [x], outputs: [y], shapes }) => [
      copy(x, y, {
        rows: shapes[0]![0],
        columns: width,
        sourceWidth: shapes[0]![1],
        sourceOffset: offset,
        targetWidth: width,
        targetOffset: 0,
      }),
    ],
  }),
};
