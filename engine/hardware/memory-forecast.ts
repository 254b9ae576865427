// How much memory training takes: of our own plans exactly, because a plan is planned and its bytes are counted as the backends
// allocate them; of other software (PyTorch) by the textbook; the largest batch that fits; and what helps where it does not.

import { targetsOf, valuesOf } from '../model/spec.ts';
import { elementBytes } from '../../kernels/contract.ts';
import type { GpuLimits } from '../../kernels/gpu-contract.ts';
import { addressLimit, arenaBytes, nativeConvolutionBytes, packingBytes, scratchBytes } from '../backends/cpu/arena.ts';
import { mostThreads } from '../backends/cpu/threads.ts';
import { type DeviceTraits, planBytes } from '../backends/webgpu/sizes.ts';
import { sizeOf } from '../graph/op.ts';
import { frozenModel } from '../model/freeze.ts';
import { outputWidth, resolveModel } from '../model/resolve.ts';
import { compilePlan } from '../plan/compile.ts';
import { rowsByShares } from '../plan/parts.ts';
import type { Plan, Slot } from '../plan/plan.ts';
import { buildTrainingGraph } from '../plan/step.ts';
import { halfValues } from '../plan/storage.ts';
import { InputError } from '../protocol/errors.ts';
import { isBucketed, lengthOf, planOptions, rowsResident, type SessionShape } from '../train/session-sizes.ts';
import type { KeptActivations, ModelCosts } from './costs/costs.ts';
import { blocksOfWeights } from './costs/on-cpu.ts';
import { keptBy, refuseTooLarge, type ModelAtHand } from './costs/from-model.ts';
import {
  memoryLimits,
  modelStates,
  overheads,
  transformerActivations,
  type StateOptimizer,
  type StatePrecision,
  type ZeroStage,
} from './formulas/memory.ts';

/** Where a plan of ours is compiled. */
export type PlanDevice =
  { readonly kind: 'cpu'; readonly cores: number } | ({ readonly kind: 'gpu' } & Partial<DeviceTraits>);

/** Bytes of a compiled plan by what they are for. */
export interface PlanMemory {
  /** With the running statistics. */
  readonly parameters: number;
  readonly gradients: number;
  readonly optimizer: number;
  /** Kept from the forward pass for the backward pass. */
  readonly activations: number;
  readonly byLayer: readonly KeptActivations[];
  /** What lives between two calls: gradients of activations, temporaries, packing buffers, tables of steps, staging. */
  readonly workspace: number;
  /** The resident rows. */
  readonly rows: number;
  /** All of it: what the executable says it has allocated. */
  readonly total: number;
  /** What the process takes beside that until it trains: graph and plan, native scratch memory. */
  readonly program: number;
  /** What the process of a host grows by at most over a whole run: the plan (not on a GPU), copies of weights, and what trains. */
  readonly run: number;
}

/** What a process takes before it has a run: measured, the program with Node or Electron around it. */
export const processBytes = 90e6;

/**
 * What a run takes beside plan and copies: graph, plan, code and heap of the trainer, baseline and scores; pictures take more of it than
 * tables. Measured over the presets (tests/support/run-memory-child.ts).
 */
const runningBytes = { tables: 24e6, pictures: 32e6 } as const;

/**
 * Copies of weights that a run keeps beside the plan: the best ones, a checkpoint with them in it, and the file they leave in; of what was
 * let go up to one is still there, by when garbage is collected. A checkpoint is written over the one before it.
 */
function copiedBytes(plan: Plan, weights: number): number {
  const states = plan.checkpoint.reduce((bytes, name) => bytes + 4 * sizeOf(plan.tensors[name].shape), 0);
  return states + 3.5 * weights;
}

/** Graph, plan and what making them leaves behind, a call. Measured as well (tests/support/memory-child.ts). */
const planningBytes = 50e3;

/** Rows of the parts of a dataset. */
export interface RowCounts {
  readonly train: number;
  readonly validation: number;
  readonly test: number;
}

/** What a run of these rows would allocate, by part. */
export interface PlannedMemory {
  readonly plan: Plan;
  readonly memory: PlanMemory;
}

/** WebGPU's limits where a device does not say its own. */
const usualLimits: GpuLimits = {
  maxComputeWorkgroupsPerDimension: 65_535,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupStorageSize: 16_384,
};

/** Bytes of rows that stay on a device by default. */
const usualDataBudget = 2 ** 30;

/**
 * The memory of a run, exact to the byte: the plan is made as a session makes it. Nothing is allocated. The buckets of its rows are known by
 * the rows alone: without `buckets` one is planned that is a token shorter than the longest, which takes as much to 2 %. `sharedBy`:
 * how much of a batch each of several devices gets; all of them take as much. Throws InputError `model.too_large`.
 */
export function planMemory(
  { name, spec, input, output, training }: ModelAtHand,
  counts: RowCounts,
  device: PlanDevice,
  {
    dataBudget = usualDataBudget,
    buckets,
    sharedBy,
  }: {
    readonly dataBudget?: number;
    readonly buckets?: SessionShape['buckets'];
    readonly sharedBy?: readonly number[];
  } = {},
): PlannedMemory {
  const whole = resolveModel(spec, input, outputWidth(output, training.loss));
  refuseTooLarge(name, whole, training.batch);
  const model = frozenModel(whole, training.frozenLayers ?? 0);
  const width = valuesOf(input);
  const rows = counts.train + counts.validation + counts.test;
  const targets = targetsOf(input);
  const capacity = rowsResident(rows, { input, width, targets }, dataBudget, training.batch);
  const data = { counts, output, width, targets };
  // Several together store float32.
  const halfStorage = device.kind === 'gpu' && !sharedBy;
  const batch = Math.min(training.batch, counts.train);
  const bucketed = isBucketed(model, counts.train, training);
  const shape = {
    ...{ model, training, data, capacity, accumulate: training.accumulate, halfStorage },
    ...(bucketed ? { buckets: buckets ?? { lengths: [lengthOf(model) - 1], parts: 1 } } : {}),
    ...(sharedBy ? { shares: rowsByShares(batch, sharedBy) } : {}),
  };
  const { options, parts } = planOptions(shape);
  const plan = compilePlan(options);
  const rowsAtOnce = parts ? Math.max(...parts(batch)) : batch;
  const { graph } = buildTrainingGraph(options, rowsAtOnce);
  const calls = Object.values(plan.programs).reduce((sum, each) => sum + each.calls.length, 0);
  const planning = planningBytes * calls;
  const halves = options.halfStorage ? halfValues(graph, rowsAtOnce) : undefined;
  const memory = memoryOf(plan, keptBy(graph, halves), device);
  const weights = [...model.parameters, ...model.states].reduce((bytes, { shape }) => bytes + 4 * sizeOf(shape), 0);
  const allocated = device.kind === 'cpu' ? memory.total : 0;
  const running = input.kind === 'image' ? runningBytes.pictures : runningBytes.tables;
  const native = nativeBytes(plan, device);
  const run = allocated + native + copiedBytes(plan, weights) + running;
  return { plan, memory: { ...memory, program: planning + native, run } };
}

/** The bytes of a plan on a device, sorted by what they are for. */
export function memoryOf(
  plan: Plan,
  byLayer: readonly KeptActivations[],
  device: PlanDevice,
): Omit<PlanMemory, 'program' | 'run'> {
  const total = totalBytes(plan, device);
  const sum = (wanted: (slot: Slot) => boolean): number =>
    plan.slots.filter(wanted).reduce((bytes, { elements, type }) => bytes + elements * elementBytes[type], 0);
  const gradients = sum(({ label }) => label.startsWith('gradients'));
  const optimizer = sum(({ label }) => label.startsWith('optimizer.'));
  const persistent = sum(({ kind }) => kind === 'persistent');
  const rows = sum(({ kind }) => kind === 'data');
  const kept = byLayer.reduce((bytes, { values, half = 0 }) => bytes + 4 * values - 2 * half, 0);
  const activations = Math.min(
    kept,
    sum(({ kind }) => kind === 'scratch'),
  );
  const parameters = persistent - gradients - optimizer;
  const workspace = total - persistent - rows - activations;
  return { parameters, gradients, optimizer, activations, byLayer, workspace, rows, total };
}

/** What native convolutions work in beside the arena, less the scratch memory in it that only their WASM kernels would have written. */
function nativeBytes(plan: Plan, device: PlanDevice): number {
  if (device.kind !== 'cpu') return 0;
  const calls = Object.values(plan.programs).flatMap((program) => program.calls);
  if (!calls.some(({ kernel }) => kernel.startsWith('conv2d'))) return 0;
  const own = nativeConvolutionBytes(calls.some(blocksOfWeights)) - (scratchBytes(plan) - packingBytes);
  return own * mostThreads(plan, device.cores);
}

function totalBytes(plan: Plan, device: PlanDevice): number {
  if (device.kind === 'cpu') return arenaBytes(plan, mostThreads(plan, device.cores));
  const { limits = usualLimits, subgroups = false, halfArithmetic = false } = device;
  return planBytes(plan, { limits, subgroups, halfArithmetic });
}

/** How other software trains. */
export interface TextbookOptions {
  readonly precision: 'float32' | 'mixed16' | 'pure16';
  readonly optimizer: StateOptimizer;
  /** `full`: only the input of a layer is kept, for about a third more computing. */
  readonly recompute?: 'kept' | 'selective' | 'full';
  /** States shared out over so many devices. */
  readonly zero?: { readonly stage: ZeroStage; readonly ranks: number };
}

export interface TextbookMemory {
  readonly parameters: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly activations: number;
  readonly total: number;
}

/**
 * What PyTorch keeps, by the textbook. `mixed16` is autocast: float32 weights with a 16-bit copy; `pure16` 16-bit weights and
 * gradients with a float32 master (ZeRO's accounting). Context, fragmentation and workspace come on top (`withOverheads`).
 */
export function textbookMemory(costs: ModelCosts, options: TextbookOptions): TextbookMemory {
  const { precision, optimizer, recompute = 'kept', zero } = options;
  const states: StatePrecision =
    precision === 'float32' ? 'float32' : precision === 'mixed16' ? 'mixed16-torch' : 'mixed16';
  const { weights } = modelStates(costs.parameters, optimizer, states);
  const { gradients, optimizer: state } = modelStates(costs.trained, optimizer, states);
  const shared = (bytes: number, from: ZeroStage): number => bytes / (zero && zero.stage >= from ? zero.ranks : 1);
  // The float32 copy of 16-bit weights is the optimizer's, and shared out with it.
  const copy = precision === 'pure16' ? 4 * costs.trained : 0;
  const parts = {
    parameters: shared(weights - copy, 3) + shared(copy, 1),
    gradients: shared(gradients, 2),
    optimizer: shared(state, 1),
    activations: textbookActivations(costs, precision === 'float32' ? 4 : 2, recompute),
  };
  return { ...parts, total: parts.parameters + parts.gradients + parts.optimizer + parts.activations };
}

function textbookActivations(
  { activations, transformer, batch }: ModelCosts,
  bytesPerValue: number,
  recompute: NonNullable<TextbookOptions['recompute']>,
): number {
  if (transformer) {
    const { sequence, vocabulary, logits } = transformer;
    const inLayers = transformerActivations(transformer, batch, recompute) * (bytesPerValue / 2);
    return inLayers + (logits ? 4 * batch * sequence * vocabulary : 0);
  }
  const all = activations.reduce((sum, layer) => sum + bytesPerValue * layer.values + layer.indexBytes, 0);
  // Checkpoints every √L layers keep about 2·√L of L layers' activations (arXiv 1604.06174).
  const share = recompute === 'full' ? Math.min(1, 2 / Math.sqrt(Math.max(1, activations.length))) : 1;
  return all * share;
}

/** With a context of `contextBytes` and fragmentation of 5 to 20 %: what a card has to have free. */
export function withOverheads(bytes: number): { readonly low: number; readonly high: number } {
  const { context, fragmentation } = overheads;
  return {
    low: bytes * (1 + fragmentation.low) + context.low,
    high: bytes * (1 + fragmentation.high) + context.high,
  };
}

/** Bytes of cards that people have. */
export const usualMemories: readonly number[] = [8, 12, 16, 24, 80].map((gigabytes) => gigabytes * 1e9);

const mostBatch = 65_536;

/**
 * The largest batch whose `need` fits `bytes`, 0 where not even one example does; `need` grows with the batch. Looks for the largest
 * power of two, then halves the interval: a plan where `most` fits, some ten elsewhere. A step a plan.
 */
export function* largestBatch(
  need: (batch: number) => number,
  bytes: number,
  most = mostBatch,
): Generator<void, number> {
  const fitsAt = (batch: number): boolean => {
    try {
      return need(batch) <= bytes;
    } catch (error) {
      // Too many numbers for any plan.
      if (error instanceof InputError && error.code === 'model.too_large') return false;
      throw error;
    }
  };
  if (fitsAt(most)) return most;
  yield;
  if (!fitsAt(1)) return 0;
  let [power, beyond] = [0, Math.ceil(Math.log2(most))];
  while (beyond - power > 1) {
    yield;
    const middle = (power + beyond) >> 1;
    if (fitsAt(2 ** middle)) power = middle;
    else beyond = middle;
  }
  let fits = 2 ** power;
  let tooLarge = Math.min(most + 1, 2 * fits);
  while (tooLarge - fits > Math.max(1, fits >> 5)) {
    yield;
    const middle = (fits + tooLarge) >> 1;
    if (fitsAt(middle)) fits = middle;
    else tooLarge = middle;
  }
  return fits;
}

/** What a run of ours on the CPU can have of so many bytes. */
export const usableBytes = (bytes: number): number => Math.min(bytes, addressLimit);

/** The largest batch of a run of ours on the CPU of a machine with so many bytes to spare; never more than the rows there are. A step a plan. */
export function largestOwnBatch(
  model: ModelAtHand,
  rows: number,
  cores: number,
  bytes: number,
): Generator<void, number> {
  const need = (batch: number): number => {
    const training = { ...model.training, batch };
    const counts = { train: rows, validation: 0, test: 0 };
    return planMemory({ ...model, training }, counts, { kind: 'cpu', cores }).memory.total;
  };
  return largestBatch(need, usableBytes(bytes), Math.min(rows, mostBatch));
}

/** The batch that the largest ones are reckoned from. */
const baseBatch = 16;

/** The batches whose costs `largestTextbookBatch` and `remedies` ask for: who must not wait for all at once plans them ahead. */
export const forecastBatches = (batch: number): readonly number[] => [batch, Math.max(1, batch >> 1), baseBatch];

/** The largest batch of a textbook forecast on a card, of which `memoryLimits.refuse` may be filled. */
export function largestTextbookBatch(
  costs: (batch: number) => ModelCosts,
  options: TextbookOptions,
  bytes: number,
): number {
  // Everything but the activations is fixed, and they are proportional to the batch: two forecasts tell it all.
  const { total, activations } = textbookMemory(costs(baseBatch), options);
  const usable = memoryLimits.refuse * bytes - withOverheads(0).low;
  const left = usable / (1 + overheads.fragmentation.low) - (total - activations);
  return left <= 0 ? 0 : Math.floor(left / (activations / baseBatch));
}

export interface Remedy {
  readonly name: 'accumulation' | 'recomputation' | '16 bits' | '8-bit Adam' | 'smaller batch';
  readonly text: string;
  /** Bytes it saves. */
  readonly saves: number;
  /** Times as long an epoch takes; 1 = no longer. */
  readonly time: number;
}

/** What would make a textbook forecast smaller, the largest saving first. */
export function remedies(
  costs: (batch: number) => ModelCosts,
  options: TextbookOptions,
  batch: number,
): readonly Remedy[] {
  const now = textbookMemory(costs(batch), options).total;
  const saving = (changed: Partial<TextbookOptions>, rows = batch): number =>
    now - textbookMemory(costs(rows), { ...options, ...changed }).total;
  const half = Math.max(1, batch >> 1);
  const all: readonly Remedy[] = [
    {
      name: 'accumulation',
      text: `compute each batch of ${batch} in parts of ${half} and add up their gradients: the same training`,
      saves: saving({}, half),
      time: 1.05,
    },
    {
      name: 'smaller batch',
      text: `batches of ${half}: more steps an epoch, another training`,
      saves: saving({}, half),
      time: 1.1,
    },
    {
      name: 'recomputation',
      text: 'compute activations again in the backward pass instead of keeping them',
      saves: saving({ recompute: 'full' }),
      time: 4 / 3,
    },
    {
      name: '16 bits',
      text: 'numbers of 16 bits beside float32 weights; faster where the device has units for it',
      saves: saving({ precision: 'mixed16' }),
      time: 1,
    },
    {
      name: '8-bit Adam',
      text: 'keep the moments of Adam in 8 bits',
      saves: options.optimizer === 'adam' ? saving({ optimizer: 'adam8bit' }) : 0,
      time: 1,
    },
  ];
  return all.filter(({ saves }) => saves > 0).toSorted((a, b) => b.saves - a.saves);
}
