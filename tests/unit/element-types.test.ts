// Element types of tensors: sizes, offsets, writing and reading of parts on every backend; parameters of each type in a slot of their
// own; numbers of 16 bits.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { type HostArray, toHost } from '../../engine/backends/host-arrays.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { compilePlan, type PlanOptions } from '../../engine/plan/compile.ts';
import { align } from '../../engine/plan/layout.ts';
import type { Plan, Slot, TensorPlace } from '../../engine/plan/plan.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { elementBytes, type ElementType } from '../../kernels/contract.ts';
import { fromHalf, toHalf } from '../../kernels/half.ts';
import { handMadeModel } from '../support/hand-made.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const types = Object.keys(elementBytes) as ElementType[];
const length = 131;

/** A plan of two tensors of each type, both in one slot. */
function planOfTypes(): Plan {
  const slots = types.map((type, id): Slot => {
    return { id, type, elements: align(length, type) + length, kind: 'persistent', label: type };
  });
  const tensors: Record<string, TensorPlace> = {};
  for (const { id, type } of slots) {
    tensors[`${type} a`] = { slot: id, offset: 0, shape: [length], type };
    tensors[`${type} b`] = { slot: id, offset: align(length, type), shape: [length], type };
  }
  return { slots, tensors, programs: {}, stepCapacity: 1, checkpoint: [] };
}

const skipGpu = await missingGpu();
const backends: readonly { name: string; skip: false | string; open: () => Promise<Backend> }[] = [
  { name: 'reference', skip: false, open: async () => createReferenceBackend() },
  { name: 'cpu', skip: false, open: async () => createCpuBackend({ threads: 1 }) },
  { name: 'webgpu', skip: skipGpu, open: async () => createWebgpuBackend(await testGpu()) },
];

/** Values that every type holds exactly, and negative ones where there are some. */
const sample = (type: ElementType, count: number, first = 0): HostArray =>
  toHost(
    type,
    Array.from({ length: count }, (_, i) => ((i + first) % 100) * (type.startsWith('u') ? 1 : i % 2 === 0 ? -1 : 1)),
  );

for (const { name, skip, open } of backends) {
  test(`tensors of every type are written and read whole and in parts on ${name}`, { skip }, async () => {
    const backend = await open();
    const executable = await backend.compile(planOfTypes());
    for (const type of types) {
      // No GPU has numbers of 64 bits.
      if (name === 'webgpu' && type === 'f64') continue;
      const [a, b] = [sample(type, length), sample(type, length, 7)];
      executable.write(`${type} a`, a);
      executable.write(`${type} b`, b);
      assert.deepEqual(await executable.read(`${type} a`), a, type);
      // Odd places and lengths, so that small elements begin and end within a word.
      const part = sample(type, 5, 50);
      executable.write(`${type} a`, part, 3);
      a.set(part, 3);
      assert.deepEqual(await executable.read(`${type} a`), a, `${type} after writing a part`);
      assert.deepEqual(await executable.read(`${type} a`, 1, 8), a.slice(1, 9), `a part of ${type}`);
      assert.deepEqual(await executable.read(`${type} b`), b, `${type}: the neighbour is untouched`);
    }
    await backend.close();
  });
}

test('parameters lie in one slot for each element type, at multiples of 256 bytes, and can be initialized', async () => {
  const made = handMadeModel({
    inputs: 3,
    batch: 4,
    parameters: { w: [3, 1], half: [5, 5], other: [7] },
    build: ({ graph, tensor }, x) => graph.one('dense', [x, tensor('w'), null], { activation: 'none', slope: 0 }),
  });
  const parameters = made.parameters.map((each) => (each.name === 'made.w' ? each : { ...each, type: 'f16' as const }));
  const model = { ...made, parameters };
  const options: PlanOptions = {
    model,
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    training: defaultTraining(12, 'regression'),
    data: { rows: 12, width: 3, targets: 1 },
    stepCapacity: 1,
    predictSteps: 1,
    trainBatches: [],
    predictBatch: 4,
  };
  const plan = compilePlan(options);
  const { 'made.half': half, 'made.other': other, 'made.w': w } = plan.tensors;
  assert.equal(plan.slots[w.slot].label, 'parameters');
  assert.deepEqual(plan.slots[half.slot], { ...plan.slots[other.slot], label: 'parameters:f16', type: 'f16' });
  assert.deepEqual([half.offset, other.offset], [0, 128]);
  const executable = await createReferenceBackend().compile(plan);
  initializeWeights(executable, model, 1);
  const bits = await executable.read('made.half');
  assert.ok(bits instanceof Uint16Array && bits.some((each) => each !== 0));
  assert.throws(
    () => compilePlan({ ...options, trainBatches: [4] }),
    /no optimizer trains parameters of type f16: made.half/,
  );
});

test('numbers of 16 bits: known bits, the nearest even, both ends, and back', () => {
  const known: readonly (readonly [number, number])[] = [
    [0, 0],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519, 0x7bff],
    [65520, 0x7c00],
    [-1e9, 0xfc00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [3 * 2 ** -25, 0x0002],
    [1 / 3, 0x3555],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2 - 2 ** -12, 0x4000],
  ];
  for (const [value, bits] of known) assert.equal(toHalf(value), bits, String(value));
  assert.ok(Number.isNaN(fromHalf(toHalf(NaN))));
  for (let bits = 0; bits < 0x10000; bits++) {
    const value = fromHalf(bits);
    if (!Number.isNaN(value)) assert.equal(toHalf(value), bits);
  }
});
