// Small pieces of WGSL that several kernels share: literals, one-dimensional grids, activations, sums over a workgroup.

import { activationCodes } from './activations.ts';
import type { GpuContext, GpuLimits, WgslElement } from './gpu-contract.ts';

/** Threads of a workgroup where nothing else decides: every device offers 256, and 128 suits all of them. */
export const defaultThreads = 128;

/** A float32 literal: the value is rounded to float32 first, so that it has the same bits as on the CPU. */
export function float(value: number): string {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) throw new RangeError(`WGSL has no literal for ${value}`);
  return rounded < 0 || Object.is(rounded, -0) ? `(${rounded}f)` : `${rounded}f`;
}

/** The least power of two that is not below `value`. */
export function powerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, value)));
}

/** WGSL reserves some words that operands are named after. */
export function variableName(operand: string): string {
  return operand === 'target' ? 'target_' : operand;
}

export interface Grid {
  readonly workgroups: readonly [x: number, y: number, z: number];
}

/** `count` workgroups in a row, folded over y where one dimension is too short for them. */
export function foldedGrid(count: number, limits: GpuLimits): Grid {
  const longest = limits.maxComputeWorkgroupsPerDimension;
  const columns = Math.max(1, Math.min(count, longest));
  const rows = Math.ceil(count / columns);
  if (rows <= longest) return { workgroups: [columns, Math.max(1, rows), 1] };
  return { workgroups: [columns, longest, Math.ceil(rows / longest)] };
}

/** Expression for the number of a workgroup of a folded grid; `group` is `@builtin(workgroup_id)`. */
export function groupIndex(grid: Grid): string {
  const [x, y, z] = grid.workgroups;
  if (z > 1) return `((group.z * ${y}u + group.y) * ${x}u + group.x)`;
  return y > 1 ? `(group.y * ${x}u + group.x)` : 'group.x';
}

export interface ElementwiseView extends Grid {
  /** `vec4<f32>` where four divides the count, else `f32`. */
  readonly element: WgslElement;
  /** Elements of the view. */
  readonly length: number;
}

/** How an element-wise kernel sees operands of `count` float32 values. */
export function elementwiseView(count: number, limits: GpuLimits): ElementwiseView {
  if (count % 4 !== 0) return scalarView(count, limits);
  return { ...scalarView(count / 4, limits), element: 'vec4<f32>' };
}

/** A view of single values, for kernels that index freely. */
export function scalarView(count: number, limits: GpuLimits): ElementwiseView {
  const grid = foldedGrid(Math.ceil(count / defaultThreads), limits);
  return { element: 'f32', length: count, workgroups: grid.workgroups };
}

/**
 * An entry point that runs `body` once for every `i` below `length`. `V` is the type of an element.
 * `declarations` stands before it.
 */
export function elementwise(view: ElementwiseView, body: string, declarations = ''): string {
  const index = groupIndex(view);
  return `alias V = ${view.element};
const LENGTH = ${view.length}u;
const THREADS = ${defaultThreads}u;
${declarations}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let i = ${index} * THREADS + thread;
  if (i >= LENGTH) { return; }
  ${body}
}
`;
}

/**
 * `fn activate(x: V) -> V`, for V = f32 or a vector of f32. tanh and sigmoid are written through exp of a negative number,
 * because drivers may compute WGSL's own tanh as sinh/cosh, which overflows.
 */
export function activateFunction(code: number, slope: number): string {
  const body = activationBody(code, slope);
  const helper = code === activationCodes.gelu ? erfFunction : '';
  return `${helper}
fn activate(x: V) -> V {
  ${body}
}
`;
}

function activationBody(code: number, slope: number): string {
  const { none, relu, leaky_relu, gelu, silu, tanh, sigmoid } = activationCodes;
  switch (code) {
    case none:
      return 'return x;';
    case relu:
      return 'return max(x, V(0f));';
    case leaky_relu:
      return `return select(${float(slope)} * x, x, x > V(0f));`;
    case gelu:
      return `return 0.5f * x * (1f + error_function(x * ${float(Math.SQRT1_2)}));`;
    case silu:
      return `let e = exp(-abs(x));
  return x * select(e, V(1f), x >= V(0f)) / (1f + e);`;
    case tanh:
      return `let e = exp(-2f * abs(x));
  return sign(x) * (1f - e) / (1f + e);`;
    case sigmoid:
      return `let e = exp(-abs(x));
  return select(e, V(1f), x >= V(0f)) / (1f + e);`;
    default:
      throw new RangeError(`no activation has code ${code}`);
  }
}

/** `fn derivative(x: V) -> V`: f′ from the input, or from the output where `fromOutput` holds. */
export function derivativeFunction(code: number, slope: number, fromOutput: boolean): string {
  const helper = code === activationCodes.gelu ? erfFunction : '';
  return `${helper}
fn derivative(x: V) -> V {
  ${fromOutput ? derivativeOfOutputBody(code, slope) : derivativeBody(code, slope)}
}
`;
}

function derivativeOfOutputBody(code: number, slope: number): string {
  const { none, relu, leaky_relu, tanh, sigmoid } = activationCodes;
  switch (code) {
    case none:
      return 'return V(1f);';
    case relu:
      return 'return select(V(0f), V(1f), x > V(0f));';
    case leaky_relu:
      return `return select(V(${float(slope)}), V(1f), x > V(0f));`;
    case tanh:
      return 'return 1f - x * x;';
    case sigmoid:
      return 'return x * (1f - x);';
    default:
      throw new RangeError(`the derivative of activation ${code} is not a function of its output`);
  }
}

function derivativeBody(code: number, slope: number): string {
  const { gelu, silu, tanh, sigmoid } = activationCodes;
  const logistic = `let e = exp(-abs(x));
  let s = select(e, V(1f), x >= V(0f)) / (1f + e);`;
  switch (code) {
    case gelu:
      return `let density = exp(-0.5f * x * x) * ${float(1 / Math.sqrt(2 * Math.PI))};
  return 0.5f * (1f + error_function(x * ${float(Math.SQRT1_2)})) + x * density;`;
    case silu:
      return `${logistic}
  return s * (1f + x * (1f - s));`;
    case tanh:
      return `let e = exp(-2f * abs(x));
  let t = (1f - e) / (1f + e);
  return 1f - t * t;`;
    case sigmoid:
      return `${logistic}
  return s * (1f - s);`;
    default:
      return derivativeOfOutputBody(code, slope);
  }
}

/**
 * erf = 1 − exp(−x²)·t·P(t), t = 1/(1 + 0.4x) for x ≥ 0: the form of Abramowitz & Stegun 7.1.26 with a polynomial of
 * degree 7 fitted here; at most 4e-10 off in exact arithmetic, 3e-7 in float32.
 */
const erfCoefficients = [
  0.22583408653736115, 0.2291467934846878, 0.16460856795310974, 0.3633551299571991, -0.32725757360458374,
  0.6582618355751038, -0.38788166642189026, 0.07393284887075424,
];
const erfFunction = `
fn error_function(x: V) -> V {
  let size = abs(x);
  let t = 1f / (1f + 0.4f * size);
  let series = ${erfCoefficients.reduceRight((inner, c) => (inner ? `(${float(c)} + t * ${inner})` : float(c)), '')};
  return sign(x) * (1f - t * series * exp(-size * size));
}
`;

/**
 * `fn workgroup_sum(thread, value: f32) -> f32`: the sum over a workgroup of `threads` (a power of two), the same for every
 * thread. Fixed order: a tree in workgroup memory, or the device's subgroup sums added up in order.
 */
export function workgroupSum(threads: number, context: GpuContext): string {
  return context.subgroups ? subgroupSumFunction(threads) : treeSumFunction(threads);
}

/** What an entry point that calls `workgroup_sum` has to declare and pass on. */
export function sumArguments(context: GpuContext): { readonly parameters: string; readonly pass: string } {
  if (!context.subgroups) return { parameters: '', pass: 'thread' };
  return {
    parameters: `, @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32,
  @builtin(subgroup_invocation_id) subgroup_lane: u32`,
    pass: 'Place(subgroup_lane, subgroup, subgroups)',
  };
}

const treeSumFunction = (threads: number): string => `
var<workgroup> sums: array<f32, ${threads}>;
fn workgroup_sum(thread: u32, value: f32) -> f32 {
  sums[thread] = value;
  for (var width = ${threads / 2}u; width > 0u; width >>= 1u) {
    workgroupBarrier();
    if (thread < width) { sums[thread] += sums[thread + width]; }
  }
  return workgroupUniformLoad(&sums[0]);
}
`;

const subgroupSumFunction = (threads: number): string => `
struct Place { lane: u32, subgroup: u32, subgroups: u32 }
var<workgroup> sums: array<f32, ${threads}>;
var<workgroup> total: f32;
fn workgroup_sum(place: Place, value: f32) -> f32 {
  let partial = subgroupAdd(value);
  if (place.lane == 0u) { sums[place.subgroup] = partial; }
  workgroupBarrier();
  if (place.lane == 0u && place.subgroup == 0u) {
    var sum = 0f;
    for (var i = 0u; i < place.subgroups; i++) { sum += sums[i]; }
    total = sum;
  }
  return workgroupUniformLoad(&total);
}
`;

/**
 * `fn NAME(thread, value: f32) -> f32`: combines the values of `lanes` threads (a power of two) that lie `stride` apart, by a
 * tree of fixed order, and gives each of them the result. All threads of the workgroup have to call it.
 */
export function laneReduce(
  name: string,
  threads: number,
  lanes: number,
  stride: number,
  combine: 'add' | 'max',
): string {
  if (lanes === 1) return `fn ${name}(thread: u32, value: f32) -> f32 { return value; }\n`;
  const scratch = `${name}_scratch`;
  const combined = (x: string, y: string): string => (combine === 'add' ? `${x} + ${y}` : `max(${x}, ${y})`);
  return `
var<workgroup> ${scratch}: array<f32, ${threads}>;
fn ${name}(thread: u32, value: f32) -> f32 {
  let lane = thread / ${stride}u % ${lanes}u;
  workgroupBarrier();
  ${scratch}[thread] = value;
  for (var width = ${lanes / 2}u; width > 0u; width >>= 1u) {
    workgroupBarrier();
    if (lane < width) {
      ${scratch}[thread] = ${combined(`${scratch}[thread]`, `${scratch}[thread + width * ${stride}u]`)};
    }
  }
  workgroupBarrier();
  return ${scratch}[thread - lane * ${stride}u];
}
`;
}

/** `fn code_of(row) -> u32`: the row's code, clamped to the vocabulary. */
export function codeOfRow(params: Readonly<Record<string, number>>): string {
  const { vocabulary, codesWidth, codesColumn } = params;
  return `fn code_of(row: u32) -> u32 {
  return u32(clamp(codes[row * ${codesWidth}u + ${codesColumn}u], 0f, ${float(vocabulary - 1)}));
}`;
}
