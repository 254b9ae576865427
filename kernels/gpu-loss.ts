// The frame of the loss kernels. Rows are spread over workgroups; each adds up its rows' losses, the sum goes to loss[step].
// Small batches take one workgroup and one dispatch; larger ones leave partial sums that a second dispatch adds in order.

import type { GpuContext, GpuPass, WgslElement } from './gpu-contract.ts';
import { sumArguments, workgroupSum } from './gpu-sums.ts';
import { float, foldedGrid, groupIndex, powerOfTwo } from './gpu-wgsl.ts';

/** Values one workgroup works through before more workgroups pay for a second dispatch. */
const valuesPerGroup = 16384;
const threads = 256;

/** Classes a thread takes before a row gets more threads. */
const classesPerLane = 16;
/** Threads that share a row of `classes` logits. */
export const classLanes = (classes: number): number => Math.min(threads, powerOfTwo(classes / classesPerLane));
/** Below every float32 logit that does not already overflow. */
export const lowestLogit = float(-3.4e38);

export interface LossRule {
  readonly label: string;
  /** Rows, and values a row: they decide the number of workgroups. */
  readonly rows: number;
  readonly width: number;
  /** Threads that share a row, a power of two. */
  readonly lanes: number;
  readonly reads: readonly string[];
  /** Functions `contribute` calls. */
  readonly functions: string;
  /** WGSL that runs once before the rows; may call `workgroup_sum(PLACE, value)`, see `sumCall`. */
  readonly before: string;
  /**
   * WGSL for one row: sets `contribution` (counted for the row's first lane only) and writes the gradient where `valid`.
   * `row` is within the batch for every thread; `lane` counts the threads of a row.
   */
  readonly row: string;
}

/** Workgroups of a loss over `rows` rows of `width` values. */
export function lossGroups(rows: number, width: number, lanes: number): number {
  const most = Math.ceil(rows / (threads / lanes));
  return Math.max(1, Math.min(most, Math.ceil((rows * width) / valuesPerGroup)));
}

/** WGSL call that adds `value` up over the workgroup. */
export const sumCall = (value: string, context: GpuContext): string =>
  `workgroup_sum(${sumArguments(context).pass}, ${value})`;

export const lossThreads = threads;

/** Temporaries of `lossPasses`. */
export function lossTemporaries(rows: number, width: number, lanes: number): Readonly<Record<string, number>> {
  const groups = lossGroups(rows, width, lanes);
  return groups === 1 ? {} : { group_losses: groups };
}

export function lossPasses(rule: LossRule, context: GpuContext): readonly GpuPass[] {
  const groups = lossGroups(rule.rows, rule.width, rule.lanes);
  const rowsAtOnce = (threads / rule.lanes) * groups;
  const grid = foldedGrid(groups, context.limits);
  const single = groups === 1;
  const code = `const THREADS = ${threads}u;
const ROWS = ${rule.rows}u;
const LANES = ${rule.lanes}u;
${workgroupSum(threads, context)}
${rule.functions}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32${sumArguments(context).parameters}) {
  let group_index = ${groupIndex(grid)};
  let lane = thread % LANES;
  ${rule.before}
  var losses = 0f;
  for (var round = 0u; round < ${Math.ceil(rule.rows / rowsAtOnce)}u; round++) {
    let unclamped = round * ${rowsAtOnce}u + group_index * (THREADS / LANES) + thread / LANES;
    let valid = unclamped < ROWS;
    let row = min(unclamped, ROWS - 1u);
    var contribution = 0f;
    ${rule.row}
    if (valid && lane == 0u) { losses += contribution; }
  }
  let group_loss = ${sumCall('losses', context)};
  if (thread == 0u) { ${single ? 'loss[step] = group_loss' : 'group_losses[group_index] = group_loss'}; }
}
`;
  const gradient: Record<string, WgslElement> = context.has('gradient') ? { gradient: 'f32' } : {};
  const first: GpuPass = {
    label: rule.label,
    reads: Object.fromEntries(rule.reads.map((operand) => [operand, 'f32' as const])),
    writes: { [single ? 'loss' : 'group_losses']: 'f32', ...gradient },
    usesStep: single,
    usesSubgroups: context.subgroups,
    code,
    workgroups: grid.workgroups,
  };
  return single ? [first] : [first, sumPass(rule.label, groups, context)];
}

/** loss[step] = Σ group_losses. */
function sumPass(label: string, groups: number, context: GpuContext): GpuPass {
  const { parameters, pass } = sumArguments(context);
  const code = `${workgroupSum(threads, context)}
@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32${parameters}) {
  var sum = 0f;
  for (var i = thread; i < ${groups}u; i += ${threads}u) { sum += group_losses[i]; }
  let total_loss = workgroup_sum(${pass}, sum);
  if (thread == 0u) { loss[step] = total_loss; }
}
`;
  return {
    label: `${label} sum`,
    reads: { group_losses: 'f32' },
    writes: { loss: 'f32' },
    usesStep: true,
    usesSubgroups: context.subgroups,
    code,
    workgroups: [1, 1, 1],
  };
}
