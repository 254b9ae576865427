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
import { kernels, type KernelName } from '../../kernels/registry.ts';

const mostThreads = 32;
/** A number no kernel makes of ones. */
const untouched = -12345.678;

interface Shares {
  /** Numbers each thread wrote. */
  readonly written: readonly number[];
  /** Numbers that more than one wrote. */
  readonly twice: number;
  readonly barriers: number;
}

/** One call, shared by so many threads. */
function sharesOf(
  name: KernelName,
  params: Readonly<Record<string, number>>,
  threads: number,
  native: boolean,
): Shares {
  const contract = kernels[name];
  const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
  const operands = [...contract.inputs, ...contract.outputs];
  const sizes = operands.map(({ shape }) => sizeOf(shape(params as never)));
  const ref = (slot: number) => ('optional' in operands[slot] && operands[slot].optional ? null : { slot, offset: 0 });
  const places = operands.map((_, slot) => ref(slot));
  const inputs = places.slice(0, contract.inputs.length);
  const call = { kernel: name, params, inputs, outputs: places.slice(contract.inputs.length) };
  const plan: Plan = {
    slots: sizes.map((elements, id) => ({ id, elements, type: 'f32', kind: 'persistent', label: operands[id].name })),
    tensors: {},
    programs: { one: { name: 'one', batch: 1, calls: [call], flops: 0, bytes: 0 } },
    stepCapacity: 1,
    checkpoint: [],
  };
  const compiled = loadKernels();
  const base = reservedBytes(compiled, 1);
  const layout = placePlan(plan, base);
  const pages = Math.ceil(layout.end / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const buffer = memory.buffer as unknown as SharedArrayBuffer;
  const addon = native ? findNative() : undefined;
  const place = { scratch: base - scratchBytes, patience: 1 };
  const exports = instantiate(compiled, memory, addon, place) as KernelExports & {
    runProgram(program: number, thread: number, threads: number, firstStep: number, steps: number): number;
  };
  const names = addon === undefined ? [] : loadNative(addon).kernels;
  encodeProgram(plan.programs.one, layout, compiled.names, new Set(names), buffer);
  sizes.forEach((size, slot) => new Float32Array(buffer, layout.slots.get(slot)!.address, size).fill(1));
  const output = new Float32Array(
    buffer,
    layout.slots.get(contract.inputs.length)!.address,
    sizes[contract.inputs.length],
  );
  const control = new Int32Array(buffer, 0, 1024);
  const counts = new Uint8Array(output.length);
  const written = Array.from({ length: threads }, (_, thread) => {
    output.fill(untouched);
    // The others have come to the barrier.
    control[controlArrived / 4] = threads - 1;
    assert.equal(exports.runProgram(layout.programs.one, thread, threads, 0, 1), outcomeDone);
    let own = 0;
    output.forEach((value, i) => {
      if (value === Math.fround(untouched)) return;
      own++;
      counts[i]++;
    });
    return own;
  });
  assert.ok(
    counts.every((count) => count > 0),
    `${name} on ${threads}: all is written`,
  );
  const phases = threads > 1 ? control[controlPhase / 4] / threads : 0;
  return { written, twice: counts.filter((count) => count > 1).length, barriers: phases };
}

const product = { transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 };
const picture = { batch: 64, channels: 8, height: 12, width: 12, filters: 8, kernel: 3, stride: 1, groups: 1 };
const around = { padding: 1, dilation: 1, activation: 0, slope: 0 };

interface Case {
  readonly what: string;
  readonly name: KernelName;
  readonly params: Readonly<Record<string, number>>;
  /** The busiest of so many threads has at most so many times its even share. */
  readonly most: Readonly<Record<number, number>>;
}

const cases: readonly Case[] = [
  { what: 'a large product', name: 'matmul', params: { ...product, m: 512, n: 256, k: 64 }, most: { 2: 1.02, 8: 1.1 } },
  {
    what: 'a product of few rows',
    name: 'matmul',
    params: { ...product, m: 32, n: 1024, k: 64 },
    most: { 2: 1.02, 8: 1.02, 32: 1.02 },
  },
  {
    what: 'a convolution of 64 pictures',
    name: 'conv2d',
    params: { ...picture, ...around },
    most: { 2: 1.02, 8: 1.02, 32: 1.02 },
  },
  { what: 'a sum', name: 'add', params: { count: 100_000 }, most: { 2: 1.01, 8: 1.01, 32: 1.02 } },
];
/** Of any number of threads: 32 blocks on 31 threads are two for one of them. */
const mostOfAny = 2;

for (const native of findNative() === undefined ? [false] : [false, true]) {
  for (const { what, name, params, most } of cases) {
    test(`${what}, ${native ? 'natively' : 'by WebAssembly'}: shared evenly, each number by one thread, one barrier`, () => {
      for (let threads = 1; threads <= mostThreads; threads++) {
        const { written, twice, barriers } = sharesOf(name, params, threads, native);
        const even = written.reduce((sum, own) => sum + own, 0) / threads;
        const busiest = Math.max(...written) / even;
        assert.equal(twice, 0);
        assert.equal(barriers, threads > 1 ? 1 : 0);
        const limit = most[threads] ?? mostOfAny;
        assert.ok(busiest <= limit, `${threads} threads: the busiest does ${busiest.toFixed(2)} of its share`);
      }
    });
  }
}
