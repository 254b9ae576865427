// Copies a band of columns between two row-major matrices: concatenation, its gradient, and taking inputs apart.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'copy_columns',
  summary: 'y[row, targetOffset + j] = x[row, sourceOffset + j] for j < columns; the rest of y stays.',
  inputs: [{ name: 'x', shape: (p) => [p.rows, p.sourceWidth] }],
  outputs: [
    {
      name: 'y',
      shape: (p) => [p.rows, p.targetWidth],
      inPlace: true,
      writes: ({ rows, columns, targetWidth, targetOffset }) =>
        columns === targetWidth
          ? [[0, rows * columns]]
          : Array.from({ length: rows }, (_, row) => {
              const start = row * targetWidth + targetOffset;
              return [start, start + columns];
            }),
    },
  ],
  params: {
    rows: 'i32',
    columns: 'i32',
    sourceWidth: 'i32',
    sourceOffset: 'i32',
    targetWidth: 'i32',
    targetOffset: 'i32',
  },
  cost: (p) => ({ flops: 0, bytes: 8 * p.rows * p.columns }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [
    { params: { rows: 1, columns: 1, sourceWidth: 1, sourceOffset: 0, targetWidth: 1, targetOffset: 0 } },
    { params: { rows: 7, columns: 3, sourceWidth: 5, sourceOffset: 2, targetWidth: 11, targetOffset: 1 } },
    { params: { rows: 32, columns: 20, sourceWidth: 20, sourceOffset: 0, targetWidth: 28, targetOffset: 8 } },
    { params: { rows: 13, columns: 17, sourceWidth: 40, sourceOffset: 23, targetWidth: 17, targetOffset: 0 } },
  ],
});
