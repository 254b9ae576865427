// Boosting as a plan: what lies in a device's memory while trees grow, and the programs that are run over it. What differs from run to
// run stands in `job` tensors, which the host writes before.

import { elementCount, type ElementType, type KernelContract } from '../../../kernels/contract.ts';
import { kernels, type KernelName } from '../../../kernels/registry.ts';
import { splitEntries } from '../../../kernels/tree_split/kernel.ts';
import { blocksOf, treeLosses } from '../../../kernels/trees.ts';
import type { Call, Plan, Program, Slot, TensorPlace } from '../../plan/plan.ts';
import type { DeviceLoss } from './objectives.ts';

export interface BoostSizes {
  /** Rows that have scores: training rows first, then those of the validation. */
  readonly rows: number;
  readonly width: number;
  /** Bins of all columns. */
  readonly bins: number;
  readonly leaves: number;
  /** Histograms that are kept at once. */
  readonly histograms: number;
  readonly outputs: number;
  readonly loss: DeviceLoss;
  readonly monotone: boolean;
}

/** Jobs, a tensor each. */
export const jobNames = ['gradients', 'grid', 'rows', 'histogram', 'split', 'scores', 'predict', 'loss'] as const;
/** Words from one job to the next: a plan's alignment. */
const jobWords = 64;

/** Programs whose work depends on the rows of a leaf have one name for each size, so that each finds the threads that pay. */
export const sized = ['grow', 'sort', 'count', 'predict'] as const;
export type Sized = (typeof sized)[number];
/** Sizes are powers of two. */
export const sizeOf = (rows: number): number => Math.ceil(Math.log2(Math.max(1, rows)));

type Shapes = Readonly<Record<string, readonly [type: ElementType, ...shape: number[]]>>;

function shapesOf({ rows, width, bins, leaves, histograms, outputs, loss, monotone }: BoostSizes): Shapes {
  const nodes = Math.max(1, leaves - 1);
  return {
    bins: ['u8', rows, width],
    targets: ['f32', rows],
    scores: ['f64', rows, outputs],
    ...(loss.name === 'softmax' ? { shares: ['f64', rows, outputs] as const } : {}),
    ...(loss.weights ? { weights: ['f64', loss.classes] as const } : {}),
    ...(monotone ? { monotone: ['i32', width] as const } : {}),
    constants: ['f64', 4],
    pairs: ['f64', rows, 2],
    packed: ['u32', rows, 4],
    maxima: ['f64', blocksOf(rows), 2],
    steps: ['f64', 2],
    list: ['u32', rows],
    spare: ['u32', rows],
    counts: ['u32', blocksOf(rows)],
    goesLeft: ['u8', 256],
    columns: ['u32', width],
    starts: ['u32', width + 1],
    numbers: ['u32', width],
    rules: ['f64', 8],
    bounds: ['f64', 2, 2],
    histograms: ['u32', histograms, bins, 4],
    splits: ['f64', 2, width, splitEntries],
    sums: ['f64', 2, 4],
    ends: ['u32', leaves],
    values: ['f64', leaves],
    nodes: ['u32', nodes, 4],
    masks: ['u32', 8 * nodes],
    roots: ['u32', 1],
    losses: ['f64', blocksOf(rows), 2],
  };
}

/** A program's calls: for each operand of a kernel the tensor that is it where its name is another. */
type Calls = readonly (readonly [
  kernel: KernelName,
  job: (typeof jobNames)[number],
  others?: Readonly<Record<string, string>>,
])[];

const calls: Readonly<Record<string, Calls>> = {
  gradients: [
    ['tree_gradients', 'gradients'],
    ['tree_grid', 'grid'],
  ],
  grow: [
    ['tree_partition', 'rows'],
    ['tree_move', 'rows'],
    ['tree_histogram', 'histogram'],
    ['tree_split', 'split'],
  ],
  sort: [
    ['tree_partition', 'rows'],
    ['tree_move', 'rows'],
  ],
  count: [['tree_histogram', 'histogram']],
  find: [['tree_split', 'split']],
  scores: [['tree_scores', 'scores']],
  predict: [['tree_predict', 'predict', { list: 'spare' }]],
  loss: [['tree_loss', 'loss', { sums: 'losses' }]],
};

/** The newest plan and the sizes that it was made for: folds ask for the same one again. */
let newest: { readonly sizes: string; readonly plan: Plan } | null = null;

export function boostPlan(sizes: BoostSizes): Plan {
  const key = JSON.stringify(sizes);
  if (newest?.sizes !== key) newest = { sizes: key, plan: planOf(sizes) };
  return newest.plan;
}

function planOf(sizes: BoostSizes): Plan {
  const slots: Slot[] = [];
  const tensors: Record<string, TensorPlace> = {};
  const add = (label: string, type: ElementType, shape: readonly number[]): void => {
    const slot = slots.length;
    slots.push({ id: slot, elements: elementCount(shape), type, kind: 'persistent', label });
    tensors[label] = { slot, offset: 0, shape, type };
  };
  for (const [label, [type, ...shape]] of Object.entries(shapesOf(sizes))) add(label, type, shape);
  add('jobs', 'u32', [jobNames.length * jobWords]);
  jobNames.forEach((name, index) => {
    tensors[`job.${name}`] = { slot: tensors.jobs.slot, offset: index * jobWords, shape: [8], type: 'u32' };
  });
  const programs: Record<string, Program> = {};
  const addProgram = (name: string, of: Calls, rows: number): void => {
    const made = of.map((call) => callOf(call, sizes, tensors));
    const cost = made
      .map(({ kernel, params }) => kernels[kernel as KernelName].cost({ ...params, rows }))
      .reduce((sum, { flops, bytes }) => ({ flops: sum.flops + flops, bytes: sum.bytes + bytes }), {
        flops: 0,
        bytes: 0,
      });
    programs[name] = { name, batch: 1, calls: made, ...cost };
  };
  for (const [name, of] of Object.entries(calls)) {
    if (!sized.includes(name as Sized)) addProgram(name, of, sizes.rows);
    else for (let size = 0; size <= sizeOf(sizes.rows); size++) addProgram(`${name}@${size}`, of, 2 ** size);
  }
  return { slots, tensors, programs, stepCapacity: 1, checkpoint: [] };
}

function callOf(
  [kernel, job, others = {}]: Calls[number],
  sizes: BoostSizes,
  tensors: Readonly<Record<string, TensorPlace>>,
): Call {
  const contract: KernelContract = kernels[kernel];
  const { rows, width, bins, leaves, histograms, outputs, loss } = sizes;
  const all: Readonly<Record<string, number>> = {
    ...{ rows, width, total: bins, slots: histograms, outputs, leaves, trees: 1 },
    ...{ nodes: Math.max(1, leaves - 1), masks: 8 * Math.max(1, leaves - 1) },
    ...{ kind: treeLosses[loss.name], classes: loss.classes },
  };
  const params = Object.fromEntries(Object.keys(contract.params).map((name) => [name, all[name]]));
  const place = (name: string): Call['inputs'][number] => {
    const tensor = name === 'job' ? tensors[`job.${job}`] : (tensors[others[name] ?? name] as TensorPlace | undefined);
    return tensor ? { slot: tensor.slot, offset: tensor.offset } : null;
  };
  const of = (operands: KernelContract['inputs']): Call['inputs'] => operands.map(({ name }) => place(name));
  return { kernel, inputs: of(contract.inputs), outputs: of(contract.outputs), params };
}
