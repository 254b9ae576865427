// Convolutions as tiled products: the sources gather the pixels a product needs while it runs (implicit GEMM), one layer of
// the product for each group. N batch, C channels, F filters, k × k kernel; a tap is one (channel, ky, kx), a pixel one
// (n, row, column) of a plane.

import type { Convolution } from './convolution.ts';
import { outputShape } from './convolution.ts';
import { elementFor } from './gpu-matrix.ts';
import type { Sink, Source } from './gpu-product.ts';
import type { GpuContext, WgslElement } from './gpu-contract.ts';
import { activateFunction, derivativeFunction } from './gpu-activations.ts';

/** The sizes all three kernels compute with. */
export interface ConvolutionSizes {
  readonly groupChannels: number;
  readonly groupFilters: number;
  /** k². */
  readonly area: number;
  readonly outputHeight: number;
  readonly outputWidth: number;
  /** Pixels of an input plane and of an output plane. */
  readonly inputPlane: number;
  readonly outputPlane: number;
}

export function convolutionSizes(p: Convolution): ConvolutionSizes {
  const [, , outputHeight, outputWidth] = outputShape(p);
  return {
    groupChannels: p.channels / p.groups,
    groupFilters: p.filters / p.groups,
    area: p.kernel ** 2,
    outputHeight,
    outputWidth,
    inputPlane: p.height * p.width,
    outputPlane: outputHeight * outputWidth,
  };
}

/** Filters of a group below which a tile would be mostly empty: such groups are convolved directly. */
const leastGroup = 8;

export const isDirect = (p: Convolution): boolean =>
  p.groups > 1 && Math.min(p.channels, p.filters) / p.groups < leastGroup;

/**
 * `fn line_at(channel, ky, n, row) -> i32`, where the line of x starts that kernel row ky reads for an output row, or −1 in the
 * padding; and `fn tap(line, kx, column) -> f32`, the value kernel column kx reads for an output column. `channel` is absolute.
 */
export function inputTaps(p: Convolution): string {
  return `fn line_at(channel: u32, ky: u32, n: u32, row: u32) -> i32 {
  let y = i32(row * ${p.stride}u + ky * ${p.dilation}u) - ${p.padding};
  if (y < 0 || y >= ${p.height}) { return -1; }
  return i32((n * ${p.channels}u + channel) * ${p.height * p.width}u) + y * ${p.width};
}
fn tap(line: i32, kx: u32, column: u32) -> f32 {
  let at = i32(column * ${p.stride}u + kx * ${p.dilation}u) - ${p.padding};
  if (at < 0 || at >= ${p.width}) { return 0f; }
  return x[line + at];
}`;
}

/** As `inputTaps`, for the gradient: which values of dy an element of the input went into. `channel` is an absolute filter. */
export function outputTaps(p: Convolution): string {
  const { outputHeight, outputWidth, outputPlane } = convolutionSizes(p);
  const between = (t: string): string => (p.stride === 1 ? '' : ` || ${t} % ${p.stride} != 0`);
  return `fn line_at(channel: u32, ky: u32, n: u32, row: u32) -> i32 {
  let t = i32(row) + ${p.padding} - i32(ky * ${p.dilation}u);
  if (t < 0${between('t')} || t / ${p.stride} >= ${outputHeight}) { return -1; }
  return i32((n * ${p.filters}u + channel) * ${outputPlane}u) + t / ${p.stride} * ${outputWidth};
}
fn tap(line: i32, kx: u32, column: u32) -> f32 {
  let t = i32(column) + ${p.padding} - i32(kx * ${p.dilation}u);
  if (t < 0${between('t')} || t / ${p.stride} >= ${outputWidth}) { return 0f; }
  return dy[line + t / ${p.stride}];
}`;
}

interface Gathered {
  readonly operand: string;
  /** `line_at` and `tap`. */
  readonly taps: string;
  readonly kernel: number;
  /** Channels (or filters) of a group, each with k² taps. */
  readonly groupSize: number;
  /** The plane whose pixels are walked, and how many there are over the batch. */
  readonly height: number;
  readonly width: number;
  readonly pixels: number;
  /** The pixels are the depth of the product, the taps its rows; else the other way round. */
  readonly pixelsAreDepth: boolean;
}

/** The matrix of taps by pixels that an implicit product reads; it exists nowhere. */
export function gatheredPixels(gathered: Gathered): Source {
  const { operand, taps, kernel, groupSize, height, width, pixels, pixelsAreDepth } = gathered;
  const area = kernel ** 2;
  const plane = height * width;
  const [tapLimit, pixelLimit] = pixelsAreDepth ? [`${groupSize * area}u`, 'end'] : ['end', `${pixels}u`];
  const place = (pixel: string): string => `let n = ${pixel} / ${plane}u;
  let row = ${pixel} % ${plane}u / ${width}u;
  let column = ${pixel} % ${width}u;`;
  const tapIndex = `let channel = layer * ${groupSize}u + line / ${area}u;
  let ky = line % ${area}u / ${kernel}u;
  let kx = line % ${kernel}u;`;
  const sharedRow = `${place('position')}
  let start = line_at(channel, ky, n, row);
  if (start < 0) { return vec4<f32>(); }
  return vec4<f32>(tap(start, kx, column), tap(start, kx, column + 1u), tap(start, kx, column + 2u),
    tap(start, kx, column + 3u));`;
  // Pixels that may lie in several lines: the first one's place is divided out, the others follow it.
  const step = `column += 1u;
  if (column == ${width}u) { column = 0u; row += 1u; if (row == ${height}u) { row = 0u; n += 1u; } }`;
  const fetch = (component: string, pixel: string): string => `if (${pixel} < ${pixelLimit}) {
    let start = line_at(channel, ky, n, row);
    if (start >= 0) { values.${component} = tap(start, kx, column); }
  }`;
  const single = `${place('position').replaceAll('let', 'var')}
  var values = vec4<f32>();
  ${['x', 'y', 'z', 'w'].map((component, i) => fetch(component, `position + ${i}u`)).join(`\n  ${step}\n  `)}
  return values;`;
  return {
    load: (name) => `${taps}
fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  if (line >= ${tapLimit} || position >= ${pixelLimit}) { return vec4<f32>(); }
  ${tapIndex}
  ${width % 4 === 0 ? sharedRow : single}
}`,
    alongDepth: pixelsAreDepth,
    reads: { [operand]: 'f32' },
  };
}

/** Planes [batch, groups · groupSize, plane] of an operand by pixel: columns of b, their pixels the depth. */
export function planes(operand: string, channels: number, groupSize: number, plane: number): Source {
  const element = elementFor(plane);
  const at = (pixel: string): string =>
    `(${pixel} / ${plane}u * ${channels}u + layer * ${groupSize}u + line) * ${plane}u + ${pixel} % ${plane}u`;
  const scalars = `var values = vec4<f32>();
  var n = position / ${plane}u;
  var in_plane = position % ${plane}u;
  ${['x', 'y', 'z', 'w']
    .map(
      (component, i) => `if (position + ${i}u < end) {
    values.${component} = ${operand}[(n * ${channels}u + layer * ${groupSize}u + line) * ${plane}u + in_plane];
  }`,
    )
    .join(`\n  in_plane += 1u;\n  if (in_plane == ${plane}u) { in_plane = 0u; n += 1u; }\n  `)}
  return values;`;
  return {
    load: (name) => `fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  if (line >= ${groupSize}u || position >= end) { return vec4<f32>(); }
  ${element === 'f32' ? scalars : `return ${operand}[(${at('position')}) / 4u];`}
}`,
    alongDepth: true,
    reads: { [operand]: element },
  };
}

/** What is done to a sum before it is written: bias and activation, or the gradient of an activation. */
export interface Finish {
  /** Functions on V. */
  readonly functions: string;
  /** WGSL that changes `value: V`; `channel` is absolute, `at` the index of V in the result. */
  readonly code: string;
  /** Operands read: `saved` as V, others as f32. */
  readonly reads: readonly string[];
}

export function finishOf(params: Readonly<Record<string, number>>, context: GpuContext): Finish {
  const { activation, slope, gradient } = params;
  if (gradient) {
    if (activation === 0 || !context.has('saved')) return { functions: '', code: '', reads: [] };
    const fromOutput = true;
    return {
      functions: derivativeFunction(activation, slope, fromOutput),
      code: 'value *= derivative(saved[at]);',
      reads: ['saved'],
    };
  }
  const bias = context.has('bias');
  return {
    functions: activation === 0 ? '' : activateFunction(activation, slope),
    code: `${bias ? 'value += bias[channel];' : ''} ${activation === 0 ? '' : 'value = activate(value);'}`,
    reads: bias ? ['bias'] : [],
  };
}

/** The element types of what a finish reads. */
export const finishReads = (finish: Finish, element: WgslElement): Readonly<Record<string, WgslElement>> =>
  Object.fromEntries(finish.reads.map((operand) => [operand, operand === 'saved' ? element : 'f32']));

/** Results by channel of a group (rows) and pixel (columns), written to planes [batch, channels, plane]. */
export function planesSink(operand: string, channels: number, groupSize: number, plane: number, finish: Finish): Sink {
  const element = elementFor(plane);
  const place = (column: string): string =>
    `(${column} / ${plane}u * ${channels}u + channel) * ${plane}u + ${column} % ${plane}u`;
  const vectors = `if (column >= N) { return; }
  let at = (${place('column')}) / 4u;
  ${operand}[at] = finish(values, channel, at);`;
  const scalars = `for (var i = 0u; i < 4u; i++) {
    if (column + i < N) {
      let at = ${place('(column + i)')};
      ${operand}[at] = finish(values[i], channel, at);
    }
  }`;
  const code = `alias V = ${element};
${finish.functions}
fn finish(sum: V, channel: u32, at: u32) -> V {
  var value = sum;
  ${finish.code}
  return value;
}
fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M) { return; }
  let channel = layer * ${groupSize}u + row;
  ${element === 'f32' ? scalars : vectors}
}`;
  return { code, reads: finishReads(finish, element), writes: { [operand]: element }, sumsColumns: false };
}
