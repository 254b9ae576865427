// conv2d_weight_grad as an implicit product taps × filters over all pixels of the batch, cut into splits: the sum is deep and
// the weight small. Where groups are small, a workgroup a weight adds up its pixels.

import type { Convolution } from '../convolution.ts';
import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import { convolutionSizes, gatheredPixels, inputTaps, isDirect, planes } from '../gpu-convolution.ts';
import { channelSumPass } from '../gpu-layout.ts';
import { productPass, type Sink } from '../gpu-product.ts';
import { partialName, partialSizes, splitsOf, sumSplits } from '../gpu-splits.ts';
import { sumArguments, workgroupSum } from '../gpu-sums.ts';
import { productVariants } from '../gpu-tiles.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

interface Shape {
  readonly taps: number;
  readonly pixels: number;
  readonly splits: number;
  /** Elements of dw and db. */
  readonly sizes: Readonly<Record<string, number>>;
}

function shapeOf(p: Convolution): Shape {
  const { groupChannels, groupFilters, area, outputPlane } = convolutionSizes(p);
  const taps = groupChannels * area;
  const pixels = p.batch * outputPlane;
  const splits = isDirect(p) ? 1 : splitsOf(taps, groupFilters, pixels, p.groups);
  return { taps, pixels, splits, sizes: { dw: p.filters * taps, db: p.filters } };
}

export const gpu: GpuKernel = {
  variants: (params, context) => {
    const p = params as Convolution;
    if (isDirect(p)) return [];
    const { taps, splits } = shapeOf(p);
    return productVariants(taps, p.filters / p.groups, splits * p.groups, ['x', 'dy'], context);
  },
  temporaries: (params, context) => {
    const { sizes, splits } = shapeOf(params as Convolution);
    return partialSizes(sizes, splits, context);
  },
  passes: (params, context, variant) => {
    const p = params as Convolution;
    if (!isDirect(p)) return tiledPasses(p, context, variant);
    const { outputPlane } = convolutionSizes(p);
    const direct = directPass(p, context);
    if (!context.has('db')) return [direct];
    return [direct, channelSumPass('dy', 'db', p.batch, p.filters, outputPlane, context.limits)];
  },
};

function tiledPasses(p: Convolution, context: GpuContext, variant: string | undefined): readonly GpuPass[] {
  const { groupChannels, groupFilters, outputHeight, outputWidth, outputPlane } = convolutionSizes(p);
  const { taps, pixels, splits, sizes } = shapeOf(p);
  const product = {
    label: `conv2d_weight_grad ${p.channels}→${p.filters} ${p.kernel}×${p.kernel}`,
    m: taps,
    n: groupFilters,
    k: pixels,
    a: gatheredPixels({
      operand: 'x',
      taps: inputTaps(p),
      kernel: p.kernel,
      groupSize: groupChannels,
      height: outputHeight,
      width: outputWidth,
      pixels,
      pixelsAreDepth: true,
    }),
    b: planes('dy', p.filters, groupFilters, outputPlane),
    sink: weightSink(p, splits, context.has('db')),
    splits,
    layers: p.groups,
  };
  const pass = productPass(product, context, variant);
  return [pass, ...sumSplits(sizes, splits, context)];
}

/** Results by tap (rows) and filter of a group (columns), written to [splits, filters, taps]. */
function weightSink(p: Convolution, splits: number, withBias: boolean): Sink {
  const { groupFilters } = convolutionSizes(p);
  const { taps } = shapeOf(p);
  const [dw, db] = [partialName('dw', splits), partialName('db', splits)];
  const filter = `split * ${p.filters}u + layer * ${groupFilters}u + column + i`;
  const sums = `fn store_sum(column: u32, split: u32, values: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${db}[${filter}] = values[i]; }
  }
}`;
  const code = `fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M) { return; }
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${dw}[(${filter}) * ${taps}u + row] = values[i]; }
  }
}
${withBias ? sums : ''}`;
  return { code, reads: {}, writes: { [dw]: 'f32', ...(withBias ? { [db]: 'f32' } : {}) }, sumsColumns: withBias };
}

const threads = 128;

function directPass(p: Convolution, context: GpuContext): GpuPass {
  const { groupChannels, groupFilters, area, outputWidth, outputPlane } = convolutionSizes(p);
  const { taps, pixels, sizes } = shapeOf(p);
  const grid = foldedGrid(sizes.dw, context.limits);
  const { parameters, pass } = sumArguments(context);
  const code = `${inputTaps(p)}
${workgroupSum(threads, context)}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32${parameters}) {
  let weight = ${groupIndex(grid)};
  let filter_ = weight / ${taps}u;
  let channel = filter_ / ${groupFilters}u * ${groupChannels}u + weight % ${taps}u / ${area}u;
  let ky = weight % ${area}u / ${p.kernel}u;
  let kx = weight % ${p.kernel}u;
  var sum = 0f;
  for (var pixel = thread; pixel < ${pixels}u; pixel += ${threads}u) {
    let n = pixel / ${outputPlane}u;
    let in_plane = pixel % ${outputPlane}u;
    let line = line_at(channel, ky, n, in_plane / ${outputWidth}u);
    if (line >= 0) {
      sum += tap(line, kx, in_plane % ${outputWidth}u) * dy[(n * ${p.filters}u + filter_) * ${outputPlane}u + in_plane];
    }
  }
  let weight_sum = workgroup_sum(${pass}, sum);
  if (thread == 0u && weight < ${sizes.dw}u) { dw[weight] = weight_sum; }
}
`;
  return {
    label: `conv2d_weight_grad ${p.filters} in ${p.groups} groups`,
    reads: { x: 'f32', dy: 'f32' },
    writes: { dw: 'f32' },
    usesSubgroups: context.subgroups,
    code,
    workgroups: grid.workgroups,
  };
}
