// rms_norm_grad: dx by rows in one pass, dgamma by columns in another, in parts where rows are many and columns few.

import type { GpuContext, GpuKernel, GpuLimits, GpuPass } from '../gpu-contract.ts';
import { columnFrame, columnLayout } from '../gpu-layout.ts';
import { rowCode } from '../gpu-normalise.ts';
import { partialName, partialSizes, sumSplits } from '../gpu-splits.ts';
import { laneReduce } from '../gpu-sums.ts';
import { float } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

const sizesOf = ({ width }: Params): Readonly<Record<string, number>> => ({ dgamma: width });

export const gpu: GpuKernel = {
  temporaries: (params, context) =>
    partialSizes(sizesOf(params), columnLayout(params.rows, params.width).parts, context),
  passes: (params, context) => [
    inputPass(params.rows, params.width, context.limits),
    ...parameterPasses(params, context),
  ],
};

function inputPass(rows: number, width: number, limits: GpuLimits): GpuPass {
  const body = `let scale = inverse[own];
  var product = 0f;
  for (var j = lane; j < WIDTH; j += LANES) { product += dy[at + j] * gamma[j] * x[at + j] * scale; }
  let average = row_sum(thread, product) * ${float(1 / width)};
  if (row >= ROWS) { return; }
  for (var j = lane; j < WIDTH; j += LANES) {
    dx[at + j] = scale * (dy[at + j] * gamma[j] - x[at + j] * scale * average);
  }`;
  return {
    label: 'rms_norm_grad dx',
    reads: { dy: 'f32', x: 'f32', gamma: 'f32', inverse: 'f32' },
    writes: { dx: 'f32' },
    ...rowCode({ rows, width }, body, limits),
  };
}

function parameterPasses(params: Params, context: GpuContext): readonly GpuPass[] {
  const { rows, width } = params;
  const layout = columnLayout(rows, width);
  const { threads, columns, lanes, parts } = layout;
  const dgamma = partialName('dgamma', parts);
  const body = `var sum = 0f;
  if (column < WIDTH) {
    for (var row = first + lane; row < last; row += ${lanes}u) {
      let i = row * WIDTH + column;
      sum += dy[i] * x[i] * inverse[row];
    }
  }
  sum = column_sum(thread, sum);
  if (lane == 0u && column < WIDTH) { ${dgamma}[part * WIDTH + column] = sum; }`;
  const functions = laneReduce('column_sum', threads, lanes, columns, 'add');
  return [
    {
      label: 'rms_norm_grad dgamma',
      reads: { dy: 'f32', x: 'f32', inverse: 'f32' },
      writes: { [dgamma]: 'f32' },
      ...columnFrame(rows, width, layout, functions, body, context.limits),
    },
    ...sumSplits(sizesOf(params), parts, context),
  ];
}
