// Sums over the threads of a workgroup, in a fixed order: over all of them, or over lanes of threads that share a row or column.

import type { GpuContext } from './gpu-contract.ts';

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
