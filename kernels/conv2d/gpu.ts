// conv2d as an implicit product filters × pixels over the taps, or directly, an output value a thread, where groups are small.

import type { Convolution } from '../convolution.ts';
import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import {
  convolutionSizes,
  finishOf,
  finishReads,
  gatheredPixels,
  inputTaps,
  isDirect,
  planesSink,
} from '../gpu-convolution.ts';
import { storedMatrix } from '../gpu-matrix.ts';
import { productPass } from '../gpu-product.ts';
import { productVariants } from '../gpu-tiles.ts';
import { elementwise, scalarView } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

export const gpu: GpuKernel = {
  variants: (params, context) => {
    const p = params as Convolution;
    if (isDirect(p)) return [];
    const { groupFilters, outputPlane } = convolutionSizes(p);
    return productVariants(groupFilters, p.batch * outputPlane, p.groups, ['x', 'w'], context);
  },
  passes: (params, context, variant) => {
    const p = params as Convolution;
    return [isDirect(p) ? directPass(p, params, context) : tiledPass(p, params, context, variant)];
  },
};

function tiledPass(p: Convolution, params: Params, context: GpuContext, variant: string | undefined): GpuPass {
  const { groupChannels, groupFilters, area, outputHeight, outputWidth, outputPlane } = convolutionSizes(p);
  const pixels = p.batch * outputPlane;
  const depth = groupChannels * area;
  const product = {
    label: `conv2d ${p.channels}→${p.filters} ${p.kernel}×${p.kernel}`,
    m: groupFilters,
    n: pixels,
    k: depth,
    a: storedMatrix('w', groupFilters, depth, true, p.groups > 1 ? 'layer' : ''),
    b: gatheredPixels({
      operand: 'x',
      taps: inputTaps(p),
      kernel: p.kernel,
      groupSize: groupChannels,
      height: outputHeight,
      width: outputWidth,
      pixels,
      pixelsAreDepth: false,
    }),
    sink: planesSink('y', p.filters, groupFilters, outputPlane, finishOf(params, context)),
    splits: 1,
    layers: p.groups,
  };
  return productPass(product, context, variant);
}

function directPass(p: Convolution, params: Params, context: GpuContext): GpuPass {
  const { groupChannels, groupFilters, area, outputWidth, outputPlane } = convolutionSizes(p);
  const finish = finishOf(params, context);
  const view = scalarView(p.batch * p.filters * outputPlane, context.limits);
  const body = `let row = i % ${outputPlane}u / ${outputWidth}u;
  let column = i % ${outputWidth}u;
  let channel = i / ${outputPlane}u % ${p.filters}u;
  let n = i / ${outputPlane * p.filters}u;
  let first = channel / ${groupFilters}u * ${groupChannels}u;
  var value = 0f;
  for (var c = 0u; c < ${groupChannels}u; c++) {
    for (var ky = 0u; ky < ${p.kernel}u; ky++) {
      let line = line_at(first + c, ky, n, row);
      if (line < 0) { continue; }
      let weights = (channel * ${groupChannels}u + c) * ${area}u + ky * ${p.kernel}u;
      for (var kx = 0u; kx < ${p.kernel}u; kx++) { value += w[weights + kx] * tap(line, kx, column); }
    }
  }
  let at = i;
  ${finish.code}
  y[i] = value;`;
  return {
    label: `conv2d ${p.filters} in ${p.groups} groups`,
    reads: { x: 'f32', w: 'f32', ...finishReads(finish, 'f32') },
    writes: { y: 'f32' },
    code: elementwise(view, body, `${inputTaps(p)}\n${finish.functions}`),
    workgroups: view.workgroups,
  };
}
