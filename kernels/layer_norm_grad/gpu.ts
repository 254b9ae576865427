// layer_norm_grad: dx by rows in one pass, dgamma and dbeta by columns in another, in parts where rows are many and columns few.

import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import { columnFrame, columnLayout } from '../gpu-layout.ts';
import { normaliseGradientPass } from '../gpu-normalise.ts';
import { partialName, partialSizes, sumSplits } from '../gpu-splits.ts';
import { laneReduce } from '../gpu-sums.ts';

type Params = Readonly<Record<string, number>>;

const sizesOf = ({ width }: Params): Readonly<Record<string, number>> => ({ dgamma: width, dbeta: width });

export const gpu: GpuKernel = {
  temporaries: (params, context) =>
    partialSizes(sizesOf(params), columnLayout(params.rows, params.width).parts, context),
  passes: (params, context) => {
    const { rows, width } = params;
    return [
      normaliseGradientPass({ label: 'layer_norm_grad', rows, width, channel: 'j' }, context.limits),
      ...parameterPasses(params, context),
    ];
  },
};

function parameterPasses(params: Params, context: GpuContext): readonly GpuPass[] {
  const { rows, width } = params;
  const layout = columnLayout(rows, width);
  const { threads, columns, lanes, parts } = layout;
  const [dgamma, dbeta] = ['dgamma', 'dbeta'].map((name) => partialName(name, parts));
  const body = `var sum = 0f;
  var sum_normalised = 0f;
  if (column < WIDTH) {
    for (var row = first + lane; row < last; row += ${lanes}u) {
      let slope = dy[row * WIDTH + column];
      sum += slope;
      sum_normalised += slope * (x[row * WIDTH + column] - mean[row]) * inverseDeviation[row];
    }
  }
  sum = column_sum(thread, sum);
  sum_normalised = column_sum(thread, sum_normalised);
  if (lane == 0u && column < WIDTH) {
    ${dbeta}[part * WIDTH + column] = sum;
    ${dgamma}[part * WIDTH + column] = sum_normalised;
  }`;
  const functions = laneReduce('column_sum', threads, lanes, columns, 'add');
  return [
    {
      label: 'layer_norm_grad dgamma',
      reads: { dy: 'f32', x: 'f32', mean: 'f32', inverseDeviation: 'f32' },
      writes: { [dgamma]: 'f32', [dbeta]: 'f32' },
      ...columnFrame(rows, width, layout, functions, body, context.limits),
    },
    ...sumSplits(sizesOf(params), parts, context),
  ];
}
