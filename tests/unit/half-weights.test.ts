// `precision: mixed16` in parts of a batch: products read weights from a copy in 16 bits, which the update writes beside the weights it
// trains in float32, and so does whoever writes those.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend, Executable } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { planMemory } from '../../engine/hardware/memory-forecast.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { mlp } from '../../engine/model/presets.ts';
import { gpt, type TextInput } from '../../engine/model/text-presets.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { fromHalf, toHalf, toHalves } from '../../kernels/half.ts';
import { makeImages } from '../support/images.ts';
import { shortcutNetwork } from '../support/models.ts';
import { furthest, gentle } from '../support/scaled-loss.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const numbers = makeTable({ rows: 130, numeric: 3, classes: 3 });
const texts = makeTable({ rows: 60, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
const pictures = makeImages({ rows: 40, channels: 1, height: 10, width: 10, classes: 3 });
/** Of 21, 105 and 15 weights: pairs of them are words. */
const odd = mlp([7, 15, 5], { dropout: 0.2 });
const shape = { blocks: 1, width: 16, heads: 2, positions: 0 } as const;
const training = { epochs: 2, batch: 16, seed: 3, accumulate: 3, precision: 'mixed16' as const };
const { optimizer } = defaultTraining(130, 'classification');
const cases = [
  ['an MLP of odd widths', numbers, odd, {}],
  [
    'a CNN with a shortcut',
    pictures,
    shortcutNetwork(3),
    { optimizer: { ...optimizer, name: 'sgd', momentum: 0.9 }, clipNorm: 1 },
  ],
  [
    'a GPT',
    texts,
    gpt('gpt', shape)(texts.data.input as TextInput),
    { optimizer: { ...optimizer, name: 'rmsprop', learningRate: 0.001 } },
  ],
] as const;
const onGpu = async (): Promise<Backend> => createWebgpuBackend(await testGpu());

/** A run, its plan, and how many numbers of `parameters.half` were found to be those of the parameters rounded, after each submit. */
async function run(
  made: typeof numbers | typeof pictures,
  backend: Backend,
  options: Omit<TrainTestOptions, 'backend'>,
) {
  let plan: Plan | null = null;
  let compared = 0;
  const compile: Backend['compile'] = async (planned) => {
    const executable = await backend.compile((plan = planned));
    const step = executable.run.bind(executable);
    executable.run = async (...args: Parameters<Executable['run']>) => {
      await step(...args);
      if (!planned.tensors['parameters.half']) return;
      const [weights, copies] = [await executable.read('parameters'), await executable.read('parameters.half')];
      // The reference rounds numbers of float64.
      const error = (value: number, i: number): number => Math.abs(fromHalf(copies[i]) - value) - 2 ** -25;
      assert.ok((weights as Float32Array).every((value, i) => error(value, i) <= 1.001 * 2 ** -11 * Math.abs(value)));
      compared += copies.length;
    };
    return executable;
  };
  const { points, files } = await trainHere(made, { ...options, backend: { ...backend, compile } });
  await backend.close();
  return { plan: (plan as Plan | null)!, losses: series(points, 'step_loss'), files, compared };
}

/** Offsets of the copies that the calls of a plan read. */
function copiesRead(plan: Plan): readonly number[] {
  const copies = plan.tensors['parameters.half'];
  const calls = Object.values(plan.programs).flatMap((program) => program.calls);
  return calls.flatMap(({ inputs }) => inputs.flatMap((ref) => (ref?.slot === copies?.slot ? [ref!.offset] : [])));
}

for (const [what, made, model, also] of cases) {
  const settings = { ...training, ...also } as TrainTestOptions['training'];

  test(`${what} with copies of its weights follows its curve in float32, on the reference`, async () => {
    const whole = await run(made, createReferenceBackend(), { model, training: { ...settings, precision: 'float32' } });
    const half = await run(made, gentle(createReferenceBackend()), { model, training: settings });
    assert.ok(half.compared > 0 && whole.compared === 0);
    const error = furthest(half.losses, whole.losses, 4);
    assert.ok(error > 0 && error < 5e-3, String(error));
  });

  // The MLP's fifty steps of mixed-precision.test.ts are in parts; each run more compiles its pipelines.
  if (made !== pictures) continue;
  test(`${what} reads copies of its weights on the GPU as on the reference`, { skip }, async () => {
    const wanted = await run(made, createReferenceBackend(), { model, training: settings });
    const found = await run(made, await onGpu(), { model, training: settings });
    assert.ok(found.compared > 0 && wanted.compared > 0);
    const read = copiesRead(found.plan);
    // Bindings begin at multiples of 256 bytes, which are 128 numbers of 16 bits.
    for (const rest of [0, 64]) assert.ok(read.some((offset) => offset % 128 === rest));
    const error = furthest(found.losses, wanted.losses, 4);
    assert.ok(error < 2e-3, String(error));
  });
}

test('biases, norms and tables are read as they are, and a step that is one program has no copies', async () => {
  const [, made, model] = cases[2];
  const { plan } = await run(made, createReferenceBackend(), { model, training: { ...training, epochs: 1 } });
  const read = new Set(copiesRead(plan));
  const copied = Object.entries(plan.tensors)
    .filter(([, { slot, offset }]) => slot === plan.tensors['parameters'].slot && read.has(offset))
    .map(([name]) => name);
  assert.ok(copied.length > 3 && copied.every((name) => name.endsWith('eight')), copied.join());
  const once = await run(made, createReferenceBackend(), {
    model,
    training: { ...training, epochs: 1, accumulate: 1 },
  });
  assert.equal(once.plan.tensors['parameters.half'], undefined);
});

test('copies take 2 bytes a weight; a product reads 2 bytes less of each, and the update writes 2 more', () => {
  const { model } = subjectNamed('large', { batch: 64 });
  const asked = { ...model!, training: { ...model!.training, precision: 'mixed16' as const, accumulate: 4 } };
  const { plan } = planMemory(asked, { train: 640, validation: 80, test: 80 }, { kind: 'gpu' });
  const copies = plan.slots[plan.tensors['parameters.half'].slot];
  assert.deepEqual([copies.type, copies.elements], ['f16', plan.slots[plan.tensors['parameters'].slot].elements]);
  const [update] = plan.programs['update'].calls.slice(-1);
  assert.equal(update.saved, -2 * copies.elements);
  const [product] = plan.programs['gradients@16'].calls.filter(({ kernel }) => kernel === 'matmul');
  const { m, n, k } = product.params;
  const half = (ref: (typeof product.inputs)[number]): boolean => plan.slots[ref!.slot].type === 'f16';
  const [rows, weight, result] = [product.inputs[0], product.inputs[1], product.outputs[0]];
  assert.ok(half(weight));
  assert.equal(product.saved, 2 * k * n + (half(rows) ? 2 * m * k : 0) + (half(result) ? 2 * m * n : 0));
});

test('many numbers are rounded to 16 bits as one is', () => {
  const edges = Array.from({ length: 0x7c00 }, (_, bits) => fromHalf(bits)).flatMap((value, i) => {
    const half = Math.fround((value + fromHalf(i + 1)) / 2);
    const near = Math.fround(half * (1 + 2 ** -23));
    return [value, -value, half, -half, near, Math.fround(half * (1 - 2 ** -23))];
  });
  const values = Float32Array.from([
    ...edges,
    65519,
    65520,
    -65520,
    1e30,
    -Infinity,
    Infinity,
    NaN,
    -0,
    2 ** -25,
    3 * 2 ** -26,
  ]);
  assert.deepEqual([...toHalves(values)], [...values].map(toHalf));
});
