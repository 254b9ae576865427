// Small pieces of WGSL that many kernels share: literals, one-dimensional grids, element-wise entry points.

import type { GpuLimits, WgslElement } from './gpu-contract.ts';
import { pairFactor } from './token-codes.ts';

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

/** `fn code_of(row) -> u32`: the row's code, clamped to the vocabulary. */
export function codeOfRow(params: Readonly<Record<string, number>>): string {
  const { vocabulary, codesWidth, codesColumn } = params;
  return `fn code_of(row: u32) -> u32 {
  return u32(clamp(codes[row * ${codesWidth}u + ${codesColumn}u], 0f, ${float(vocabulary - 1)}));
}`;
}

/** `fn token_of(position) -> u32`: the code of a position of the batch, clamped to the vocabulary; 0 is padding. */
export function tokenOfPosition(params: Readonly<Record<string, number>>): string {
  const { length, vocabulary, codesWidth, codesColumn, pairs } = params;
  if (pairs === 1) {
    return `fn token_of(position: u32) -> u32 {
  let t = position % ${length}u;
  let place = position / ${length}u * ${codesWidth}u + ${codesColumn}u + t;
  let code = u32(codes[place]);
  let next = u32(codes[min(place + 1u, arrayLength(&codes) - 1u)]);
  return select(0u, (code * ${pairFactor}u + next) % ${vocabulary}u + 1u, t + 1u < ${length}u && code > 0u && next > 0u);
}`;
  }
  return `fn token_of(position: u32) -> u32 {
  let code = codes[position / ${length}u * ${codesWidth}u + ${codesColumn}u + position % ${length}u];
  return u32(clamp(code, 0f, ${float(vocabulary)}));
}`;
}
