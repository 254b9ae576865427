// conv2d_input_grad as an implicit product channels × pixels over the taps of dy, or directly where groups are small.

import type { Convolution } from '../convolution.ts';
import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import {
  convolutionSizes,
  finishOf,
  finishReads,
  gatheredPixels,
  isDirect,
  outputTaps,
  planesSink,
} from '../gpu-convolution.ts';
import { productPass, type Source } from '../gpu-product.ts';
import { productVariants } from '../gpu-tiles.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

export const gpu: GpuKernel = {
  variants: (params, context) => {
    const p = params as Convolution;
    if (isDirect(p)) return [];
    const { groupChannels, inputPlane } = convolutionSizes(p);
    return productVariants(groupChannels, p.batch * inputPlane, p.groups, ['dy', 'w'], context);
  },
  passes: (params, context, variant) => {
    const p = params as Convolution;
    return [isDirect(p) ? directPass(p, params, context) : tiledPass(p, params, context, variant)];
  },
};

function tiledPass(p: Convolution, params: Params, context: GpuContext, variant: string | undefined): GpuPass {
  const { groupChannels, groupFilters, area, inputPlane } = convolutionSizes(p);
  const pixels = p.batch * inputPlane;
  const product = {
    label: `conv2d_input_grad ${p.channels}←${p.filters} ${p.kernel}×${p.kernel}`,
    m: groupChannels,
    n: pixels,
    k: groupFilters * area,
    a: weightsByChannel(p),
    b: gatheredPixels({
      operand: 'dy',
      taps: outputTaps(p),
      kernel: p.kernel,
      groupSize: groupFilters,
      height: p.height,
      width: p.width,
      pixels,
      pixelsAreDepth: false,
    }),
    sink: planesSink('dx', p.channels, groupChannels, inputPlane, finishOf(params, context)),
    splits: 1,
    layers: p.groups,
  };
  return productPass(product, context, variant);
}

/** The weights with channels as rows and (filter, ky, kx) as depth. */
function weightsByChannel(p: Convolution): Source {
  const { groupChannels, groupFilters, area } = convolutionSizes(p);
  return {
    load: (name) => `fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  var values = vec4<f32>();
  if (line >= end) { return values; }
  let filter_ = layer * ${groupFilters}u + line / ${area}u;
  let start = filter_ * ${groupChannels * area}u + line % ${area}u;
  ${['x', 'y', 'z', 'w']
    .map(
      (component, i) =>
        `if (position + ${i}u < ${groupChannels}u) { values.${component} = w[start + (position + ${i}u) * ${area}u]; }`,
    )
    .join('\n  ')}
  return values;
}`,
    alongDepth: false,
    reads: { w: 'f32' },
  };
}

function directPass(p: Convolution, params: Params, context: GpuContext): GpuPass {
  const { groupChannels, groupFilters, area, inputPlane } = convolutionSizes(p);
  const finish = finishOf(params, context);
  const view = scalarView(p.batch * p.channels * inputPlane, context.limits);
  const body = `let row = i % ${inputPlane}u / ${p.width}u;
  let column = i % ${p.width}u;
  let channel = i / ${inputPlane}u % ${p.channels}u;
  let n = i / ${inputPlane * p.channels}u;
  let first = channel / ${groupChannels}u * ${groupFilters}u;
  var value = 0f;
  for (var f = 0u; f < ${groupFilters}u; f++) {
    for (var ky = 0u; ky < ${p.kernel}u; ky++) {
      let line = line_at(first + f, ky, n, row);
      if (line < 0) { continue; }
      let weights = ((first + f) * ${groupChannels}u + channel % ${groupChannels}u) * ${area}u + ky * ${p.kernel}u;
      for (var kx = 0u; kx < ${p.kernel}u; kx++) { value += w[weights + kx] * tap(line, kx, column); }
    }
  }
  let at = i;
  ${finish.code}
  dx[i] = value;`;
  return {
    label: `conv2d_input_grad ${p.channels} in ${p.groups} groups`,
    reads: { dy: 'f32', w: 'f32', ...finishReads(finish, 'f32') },
    writes: { dx: 'f32' },
    code: elementwise(view, body, `${outputTaps(p)}\n${finish.functions}`),
    workgroups: view.workgroups,
  };
}
