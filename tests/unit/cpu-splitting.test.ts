// How evenly work is shared, on as many threads as other people have: every thread's part of a call is run one after the other here, and
// what it wrote is counted. Two cores tell nothing of thirty-two; counts do.

import assert from 'node:assert/strict';
import test from 'node:test';
import { placePlan, scratchBytes } from '../../engine/backends/cpu/arena.ts';
import { encodeProgram } from '../../engine/backends/cpu/encode.ts';
import { controlArrived, controlPhase, outcomeDone } from '../../engine/backends/cpu/layout.ts';
import { instantiate, reservedBytes } from '../../engine/backends/cpu/machine.ts';
import { loadKernels, type KernelExports } from '../../engine/backends/cpu/module.ts';
import { findNative, loadNative } from '../../engine/backends/cpu/native.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { totalBins } from '../../kernels/tree_histogram/kernel.ts';
import { guardWords, prepareCase, type PreparedCase } from '../parity/parity.ts';
import { elementBytes } from '../../kernels/contract.ts';
import { kernels, type KernelName } from '../../kernels/registry.ts';

interface Shares {
  /** Words of outputs that each thread changed. */
  readonly written: readonly number[];
  /** Words that more than one changed. */
  readonly twice: number;
  readonly barriers: number;
}

/** One call, shared by so many threads: each does its part on memory as it was before any of them. */
function sharesOf(
  name: KernelName,
  threads: number,
  native: boolean,
  { kernel: contract, parityCase, inputs, outputs }: PreparedCase,
): Shares {
  const operands = [...contract.inputs, ...contract.outputs];
  const words = [...inputs, ...outputs];
  const sizes = words.map((each) => each?.length ?? 0);
  const typeOf = (slot: number) => operands[slot].type ?? 'f32';
  const places = words.map((each, slot) =>
    each === null ? null : { slot, offset: (4 * guardWords) / elementBytes[typeOf(slot)] },
  );
  const call = {
    kernel: name,
    params: parityCase.params,
    inputs: places.slice(0, inputs.length),
    outputs: places.slice(inputs.length),
  };
  const plan: Plan = {
    slots: sizes.map((count, id) => ({
      id,
      elements: (4 * count) / elementBytes[typeOf(id)],
      type: typeOf(id),
      kind: 'persistent',
      label: operands[id].name,
    })),
    tensors: {},
    programs: { one: { name: 'one', batch: 1, calls: [call], flops: 0, bytes: 0 } },
    stepCapacity: 1,
    checkpoint: [],
  };
  const compiled = loadKernels();
  const scratch = scratchBytes(plan);
  const base = reservedBytes(compiled, 1, scratch);
  const layout = placePlan(plan, base);
  const pages = Math.ceil(layout.end / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const buffer = memory.buffer as unknown as SharedArrayBuffer;
  const addon = native ? findNative() : undefined;
  const place = { base, scratch: base - scratch, scratchBytes: scratch, winograd: true, patience: 1 };
  const exports = instantiate(compiled, memory, addon, place) as KernelExports & {
    runProgram(program: number, thread: number, threads: number, firstStep: number, steps: number): number;
  };
  const names = addon === undefined ? [] : loadNative(addon).kernels;
  encodeProgram(plan.programs.one, layout, compiled.names, new Set(names), buffer);
  const views = words.map((_, slot) => new Uint32Array(buffer, layout.slots.get(slot)!.address, sizes[slot]));
  const control = new Int32Array(buffer, 0, 1024);
  const counts = outputs.map((each) => new Uint8Array(each?.length ?? 0));
  const written = Array.from({ length: threads }, (_, thread) => {
    words.forEach((each, slot) => each && views[slot].set(each));
    // The others have come to the barrier.
    control[controlArrived / 4] = threads - 1;
    assert.equal(exports.runProgram(layout.programs.one, thread, threads, 0, 1), outcomeDone);
    let own = 0;
    outputs.forEach((before, output) =>
      before?.forEach((word, i) => {
        if (views[inputs.length + output][i] === word) return;
        own++;
        counts[output][i]++;
      }),
    );
    return own;
  });
  const phases = threads > 1 ? control[controlPhase / 4] / threads : 0;
  outputs.forEach((before, output) => {
    if (before === null || contract.outputs[output].inPlace) return;
    const own = counts[output].subarray(guardWords, before.length - guardWords);
    assert.ok(
      own.every((count) => count > 0),
      `${name} on ${threads}: all of ${contract.outputs[output].name} is written`,
    );
  });
  const twice = counts.reduce((sum, each) => sum + each.filter((count) => count > 1).length, 0);
  return { written, twice, barriers: phases };
}

const product = { transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 };
const picture = { batch: 32, channels: 8, height: 12, width: 12, filters: 8, kernel: 3, stride: 1, groups: 1 };
const around = { padding: 1, dilation: 1, activation: 0, slope: 0 };

const normalised = { outer: 64, inner: 64 };
const grown = { rows: 20_000 };
/** Of any number of threads: 32 blocks on 31 threads are two for one of them. */
const mostOfAny = 2;
const flat = { rows: 20_000, outputs: 1, kind: 0, classes: 1 };

type Limits = Readonly<Record<number, number>>;

interface Case {
  readonly what: string;
  readonly name: KernelName;
  readonly params: Readonly<Record<string, number>>;
  readonly absent?: readonly string[];
  /** The busiest of so many threads has at most so many times its even share. */
  readonly most: Limits;
  /** The same natively, where that differs. */
  readonly natively?: Limits;
}

const even: Limits = { 2: 1.02, 8: 1.02, 32: 1.02 };
/** Rows of trees go in blocks of 4,096, so that sums are the same on any number of threads: 20,000 rows are five. */
const blocks: Limits = { 2: 1.5, 8: 2, 32: 8 };
/** Bins of rows have no sums: they go in passes of 128. */
const passes: Limits = { 2: 1.02, 8: 1.05, 32: 1.1 };
/** A column is the work of one thread. */
const columns: Limits = { 2: 1.7, 8: 2, 32: 2.7 };

const cases: readonly Case[] = [
  {
    what: 'a large product',
    name: 'matmul',
    params: { ...product, m: 512, n: 256, k: 64 },
    absent: ['bias', 'saved'],
    most: { 2: 1.02, 8: 1.1, 32: 1.2 },
  },
  {
    what: 'a product of few rows',
    name: 'matmul',
    params: { ...product, m: 32, n: 1024, k: 64 },
    absent: ['bias', 'saved'],
    most: even,
  },
  {
    what: 'a gradient of a dense weight',
    name: 'dense_weight_grad',
    params: { batch: 64, inputs: 784, units: 512 },
    most: { 2: 1.02, 8: 1.05, 32: 1.25 },
  },
  { what: 'a convolution', name: 'conv2d', params: { ...picture, ...around }, most: even },
  {
    what: 'a gradient of its input',
    name: 'conv2d_input_grad',
    params: { ...picture, ...around, gradient: 0 },
    absent: ['bias', 'saved'],
    most: even,
  },
  {
    what: 'a gradient of its weight',
    name: 'conv2d_weight_grad',
    params: { ...picture, padding: 1, dilation: 1 },
    most: { 2: 1.02, 8: 1.02, 32: 1.4 },
  },
  {
    // Four channels are the least share; by WebAssembly threads beyond those share the filters.
    what: 'a gradient of its weight by transforms',
    name: 'conv2d_weight_grad',
    params: { ...picture, batch: 4, channels: 64, filters: 64, padding: 1, dilation: 1 },
    most: even,
    natively: { 2: 1.02, 8: 1.02, 32: 2 },
  },
  { what: 'a sum', name: 'add', params: { count: 100_000 }, most: even },
  {
    what: 'batch norm of 64 channels',
    name: 'batch_norm',
    params: { ...normalised, channels: 64, epsilon: 1e-5, momentum: 0.1, activation: 0, slope: 0 },
    most: even,
  },
  { what: 'its gradient', name: 'batch_norm_grad', params: { ...normalised, channels: 64 }, most: even },
  { what: 'gradients of trees', name: 'tree_gradients', params: flat, absent: ['weights', 'shares'], most: blocks },
  {
    what: 'histograms of 19 columns',
    name: 'tree_histogram',
    params: { ...grown, width: 19, total: totalBins(19), slots: 3 },
    most: columns,
  },
  { what: 'rows of a leaf by side', name: 'tree_partition', params: { ...grown, width: 5 }, most: blocks },
  { what: 'rows put together', name: 'tree_move', params: grown, most: blocks },
  {
    what: 'splits of two leaves',
    name: 'tree_split',
    params: { width: 19, total: totalBins(19), slots: 3 },
    most: { 2: 1.1, 8: 1.2, 32: 2.2 },
  },
  { what: 'bins', name: 'tree_bins', params: { ...grown, width: 11 }, most: passes },
  {
    what: 'predictions of trees',
    name: 'tree_predict',
    params: { rows: 20_000, width: 7, outputs: 1, nodes: 30, trees: 10, leaves: 40, masks: 16 },
    most: { 2: 1.1, 8: 1.3, 32: 1.3 },
  },
];

for (const native of findNative() === undefined ? [false] : [false, true]) {
  for (const { what, name, params, absent = [], most: alone, natively } of cases) {
    const most = (native ? natively : undefined) ?? alone;
    test(`${what}, ${native ? 'natively' : 'by WebAssembly'}: shared evenly, each number by one thread, one barrier`, () => {
      const prepared = prepareCase(kernels[name], { params, absent });
      for (const threads of [1, 2, 7, 8, 31, 32]) {
        const { written, twice, barriers } = sharesOf(name, threads, native, prepared);
        const share = written.reduce((sum, own) => sum + own, 0) / threads;
        const busiest = Math.max(...written) / share;
        assert.equal(twice, 0);
        assert.equal(barriers, threads > 1 ? 1 : 0);
        const limit = most[threads] ?? mostOfAny * Math.max(...Object.values(most));
        assert.ok(busiest <= limit, `${threads} threads: the busiest does ${busiest.toFixed(2)} of its share`);
      }
    });
  }
}
