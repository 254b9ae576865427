// column_sum: a workgroup takes some neighbouring columns, its lanes share the rows and are added up by a tree. Where rows are
// many and columns few, workgroups take parts of the rows, and a second pass adds these up.

import type { GpuKernel } from '../gpu-contract.ts';
import { columnFrame, columnLayout } from '../gpu-layout.ts';
import { partialName, partialSizes, sumSplits } from '../gpu-splits.ts';
import { laneReduce } from '../gpu-sums.ts';

export const gpu: GpuKernel = {
  temporaries: ({ rows, width }, context) => partialSizes({ y: width }, columnLayout(rows, width).parts, context),
  passes: ({ rows, width }, context) => {
    const layout = columnLayout(rows, width);
    const { threads, columns, lanes, parts } = layout;
    const y = partialName('y', parts);
    const body = `var sum = 0f;
  if (column < WIDTH) {
    for (var row = first + lane; row < last; row += ${lanes}u) { sum += x[row * WIDTH + column]; }
  }
  sum = column_sum(thread, sum);
  if (lane == 0u && column < WIDTH) { ${y}[part * WIDTH + column] = sum; }`;
    const functions = laneReduce('column_sum', threads, lanes, columns, 'add');
    const frame = columnFrame(rows, width, layout, functions, body, context.limits);
    return [
      { label: 'column_sum', reads: { x: 'f32' }, writes: { [y]: 'f32' }, ...frame },
      ...sumSplits({ y: width }, parts, context),
    ];
  },
};
