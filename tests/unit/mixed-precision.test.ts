// `precision: mixed16`: activations and their gradients in 16 bits on the GPU and in the reference; weights, statistics and sums as ever.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { planMemory, type PlanDevice } from '../../engine/hardware/memory-forecast.ts';
import { sparedMemory } from '../../engine/hardware/spared.ts';
import { mlp } from '../../engine/model/presets.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { bert, gpt, textClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { throughAccessors } from '../../kernels/gpu-half.ts';
import { fromHalf, toHalf } from '../../kernels/half.ts';
import { makeImages } from '../support/images.ts';
import { shortcutNetwork } from '../support/models.ts';
import { furthest, gentle } from '../support/scaled-loss.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { gpuWithoutPrograms, missingGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const numbers = makeTable({ rows: 230, numeric: 4, classes: 3 });
const texts = makeTable({ rows: 120, numeric: 0, classes: 3, texts: [{ vocabulary: 9, length: 7 }] });
const pictures = makeImages({ rows: 60, channels: 1, height: 10, width: 10, classes: 3 });
/** An odd number of filters: a pair of halves is a word. */
const residual = shortcutNetwork(3);
const shape = { blocks: 2, width: 16, heads: 2, positions: 0 } as const;
const branches: ModelSpec = {
  version: 1,
  layers: [
    { type: 'dense', id: 'a', units: 12, activation: 'relu' },
    { type: 'dense', id: 'b', units: 9, activation: 'tanh' },
    { type: 'concat', id: 'both', from: ['a', 'b'] },
    { type: 'dense', id: 'c', units: 8, activation: 'relu' },
    { type: 'output', id: 'out' },
  ] as ModelSpec['layers'],
};
const gates: ModelSpec = {
  version: 1,
  layers: [
    { type: 'gated_dense', id: 'a', units: 12 },
    { type: 'dense', id: 'b', units: 9, activation: 'relu' },
    { type: 'output', id: 'out' },
  ] as ModelSpec['layers'],
};
const plainGpt = gpt('gpt', shape)(texts.data.input as TextInput);
const droppingGpt: ModelSpec = {
  ...plainGpt,
  layers: plainGpt.layers.map((layer) => (layer.type === 'attention' ? { ...layer, dropout: 0.2 } : layer)),
};
const models = [
  ['an MLP of odd widths with dropout', numbers, mlp([32, 30, 7], { dropout: 0.2 })],
  ['a shortcut with batch norm and dropout', pictures, residual],
  ['two branches side by side', numbers, branches],
  ['a text classifier', texts, textClassifier('small', shape)(texts.data.input as TextInput)],
  ['a GPT that drops weights of attention', texts, droppingGpt],
] as const;
const training = { epochs: 2, batch: 16, seed: 3, precision: 'mixed16' as const };

/** The losses of a run's steps, what it leaves, and the types of its plan's scratch slots. */
async function run(made: typeof texts | typeof pictures, backend: Backend, options: Omit<TrainTestOptions, 'backend'>) {
  let plan: Plan | null = null;
  const compile: Backend['compile'] = (planned) => backend.compile((plan = planned));
  const { points, files, log } = await trainHere(made, { ...options, backend: { ...backend, compile } });
  await backend.close();
  const slots = (plan as Plan | null)!.slots.filter(({ kind }) => kind === 'scratch');
  return {
    plan: plan as Plan | null,
    losses: series(points, 'step_loss'),
    skipped: series(points, 'skipped_steps').at(-1),
    files,
    log: log.map(({ message }) => message).join('\n'),
    halves: slots.filter(({ type }) => type === 'f16').length,
  };
}

for (const [what, made, model] of models) {
  test(`${what} learns in 16 bits on the GPU as on the reference`, { skip }, async () => {
    const wanted = await run(made, createReferenceBackend(), { model, training });
    const found = await run(made, await sharedGpu(), { model, training });
    assert.ok(found.halves > 0 && found.halves === wanted.halves);
    // A value that lies between two numbers of 16 bits may round either way.
    const error = furthest(found.losses, wanted.losses, 6);
    assert.ok(error < 2e-3, String(error));
  });

  // Over 50 steps below.
  if (model === residual) continue;
  test(`${what} follows its curve in float32, on the reference`, async () => {
    const whole = await run(made, createReferenceBackend(), { model, training: { ...training, precision: 'float32' } });
    const half = await run(made, gentle(createReferenceBackend()), { model, training });
    assert.equal(whole.halves, 0);
    const error = furthest(half.losses, whole.losses, 6);
    assert.ok(error > 0 && error < 2e-3, String(error));
  });
}

// Golden: the curves of runs as people begin them, with the usual scale of the loss.
for (const [what, made, model, epochs, bound] of [
  ['a CNN with batch norm', pictures, residual, 17, 5e-3],
  ['a BERT', texts, bert('bert', shape)(texts.data.input as TextInput), 9, 1e-3],
] as const) {
  test(`50 steps of ${what} in 16 bits stay within ${100 * bound} % of the losses in float32, none skipped`, async () => {
    const long = { ...training, epochs };
    const whole = await run(made, createCpuBackend({ threads: 1 }), {
      model,
      training: { ...long, precision: 'float32' },
    });
    const half = await run(made, createReferenceBackend(), { model, training: long });
    assert.ok(half.losses.length >= 50 && half.halves > 0);
    const error = furthest(half.losses, whole.losses, 6);
    assert.ok(error > 0 && error < bound, String(error));
    assert.equal(half.skipped, 0);
    assert.ok(half.losses.at(-1)! < 0.5 * half.losses[0]);
  });
}

test(
  '50 steps in 16 bits stay within 0.1 % of the losses in float32, and resume with the same bits, on the GPU',
  { skip },
  async () => {
    const [, made, model] = models[0];
    // In parts, whose products read copies of the weights: those are no part of a checkpoint.
    const long = { ...training, epochs: 5, accumulate: 2 };
    const whole = await run(made, await sharedGpu(), { model, training: { ...long, precision: 'float32' } });
    const half = await run(made, await sharedGpu(), { model, training: long });
    assert.ok(half.losses.length >= 50);
    const error = furthest(half.losses, whole.losses, 6);
    assert.ok(error > 0 && error < 1e-3, String(error));
    const stopped = await run(made, await sharedGpu(), {
      model,
      training: long,
      onSubmit: (submits, control) => {
        if (submits === 2) control.stop();
      },
    });
    assert.ok(stopped.losses.length < half.losses.length);
    const checkpoint = stopped.files.get('checkpoint.bin')!;
    const rest = await run(made, await sharedGpu(), { model, training: long, checkpoint });
    assert.deepEqual(rest.files.get('best.safetensors'), half.files.get('best.safetensors'));
  },
);

test('with checkpointing the bits are those without, in 16 bits too', { skip }, async () => {
  for (const [made, model] of [
    [numbers, mlp([32, 32, 32, 32], { dropout: 0.2 })],
    [pictures, residual],
  ] as const) {
    const kept = await run(made, await sharedGpu(), { model, training });
    const again = await run(made, await sharedGpu(), { model, training: { ...training, checkpointing: true } });
    assert.deepEqual(again.losses, kept.losses);
  }
});

// A GPU packs a value as a whole after each call that writes it: what an earlier call gave a part of it would be lost.
for (const [what, model] of [
  ['joined', branches],
  ['cut', gates],
] as const) {
  test(`values that are ${what} are written in parts, and stay in float32`, async () => {
    const { plan, halves } = await run(numbers, createReferenceBackend(), {
      model,
      training: { ...training, epochs: 1 },
    });
    assert.ok(halves > 0);
    const inParts = Object.values(plan!.programs)
      .flatMap(({ calls }) => calls)
      .filter(({ kernel, params }) => kernel === 'copy_columns' && params['columns'] < params['targetWidth']);
    assert.ok(inParts.length > 0);
    for (const { outputs } of inParts) assert.equal(plan!.slots[outputs[0]!.slot].type, 'f32');
  });
}

test('on the CPU it is said that everything is float32', async () => {
  const [, made, model] = models[0];
  const open = (): Backend => createCpuBackend({ threads: 1 });
  const asked = await run(made, open(), { model, training });
  const whole = await run(made, open(), { model, training: { ...training, precision: 'float32' } });
  assert.match(asked.log, /16 bits are for GPUs/);
  assert.equal(asked.halves, 0);
  assert.deepEqual(asked.losses, whole.losses);
});

const counts = { train: 640, validation: 80, test: 80 };
for (const [name, share] of [
  ['large', 0.9],
  ['resnet20', 0.7],
] as const) {
  test(`${name} takes less than ${share} of its memory on the GPU, as forecast`, { skip }, async () => {
    const opened = await gpuWithoutPrograms();
    const { subgroups, halfArithmetic } = opened;
    const device: PlanDevice = { kind: 'gpu', limits: opened.device.limits, subgroups, halfArithmetic };
    const backend = createWebgpuBackend(opened);
    const { model } = subjectNamed(name, { batch: 64 });
    const bytes: number[] = [];
    for (const precision of ['float32', 'mixed16'] as const) {
      const asked = { ...model!, training: { ...model!.training, precision } };
      const { plan, memory } = planMemory(asked, counts, device);
      const executable = await backend.compile(plan);
      assert.equal(executable.bytes, memory.total);
      executable.dispose();
      bytes.push(memory.total);
    }
    await backend.close();
    assert.ok(bytes[1] < share * bytes[0], `${bytes[1]} of ${bytes[0]}`);
  });
}

test('before a run its plan is held against the one that spares nothing', () => {
  const { model } = subjectNamed('resnet20', { batch: 64 });
  const asked = (training: Partial<TrainingSpec>) => ({ ...model!, training: { ...model!.training, ...training } });
  const gpu = { kind: 'gpu' } as const;
  const total = (training: Partial<TrainingSpec>) => planMemory(asked(training), counts, gpu).memory.total;
  assert.equal(sparedMemory(model!, counts, gpu), null);
  assert.deepEqual(sparedMemory(asked({ precision: 'mixed16' }), counts, gpu), {
    bytes: total({ precision: 'mixed16' }),
    without: total({}),
  });
  const both = sparedMemory(asked({ precision: 'mixed16', checkpointing: true }), counts, gpu)!;
  assert.ok(both.bytes < total({ precision: 'mixed16' }) && both.bytes < total({ checkpointing: true }));
  // The processor stores float32 alone.
  assert.equal(sparedMemory(asked({ precision: 'mixed16' }), counts, { kind: 'cpu', cores: 1 }), null);
});

/** A plan that adds nothing to numbers, keeps them in 16 bits, and gives them back. */
function throughHalves(count: number): Plan {
  const slot = (id: number, kind: 'persistent' | 'scratch', type: 'f32' | 'f16') =>
    ({ id, kind, type, elements: count, label: `slot ${id}` }) as const;
  const at = (id: number) => ({ slot: id, offset: 0, shape: [count] });
  const add = (from: number, to: number) =>
    ({ kernel: 'add', inputs: [at(from), at(1)], outputs: [at(to)], params: { count } }) as const;
  const tensor = (id: number) => ({ slot: id, offset: 0, shape: [count], type: 'f32' }) as const;
  return {
    slots: [
      slot(0, 'persistent', 'f32'),
      slot(1, 'persistent', 'f32'),
      slot(2, 'scratch', 'f16'),
      slot(3, 'persistent', 'f32'),
    ],
    tensors: { from: tensor(0), nothing: tensor(1), to: tensor(3) },
    programs: { 'train@1': { name: 'train@1', batch: 1, calls: [add(0, 2), add(2, 3)], flops: 0, bytes: 0 } },
    stepCapacity: 1,
    checkpoint: [],
  };
}

for (const count of [64, 63]) {
  test(`${count} numbers are rounded as IEEE 754 has it, beyond the largest to infinity`, { skip }, async () => {
    const edges = [
      0,
      1,
      -1,
      1 / 3,
      65504,
      65519,
      65520,
      -65520,
      1e30,
      -Infinity,
      2 ** -14,
      1 + 2 ** -11,
      1 + 3 * 2 ** -11,
    ];
    const values = Float32Array.from({ length: count }, (_, i) => edges[i] ?? Math.fround(Math.sin(i) * 2 ** (i % 15)));
    const backend = await sharedGpu();
    const executable = await backend.compile(throughHalves(count));
    executable.write('from', values);
    executable.write('nothing', new Float32Array(count));
    await executable.run('train@1', 1);
    assert.deepEqual(
      [...(await executable.read('to'))],
      [...values].map((value) => fromHalf(toHalf(value))),
    );
    await backend.close();
  });
}

test('accesses of operands in 16 bits are calls, whatever stands in their brackets', () => {
  const elements = new Map([
    ['x', 'f32'],
    ['y', 'vec4<f32>'],
  ] as const);
  const through = (code: string): string => throughAccessors(code, elements, new Set(['y']));
  assert.equal(through('let a = x[i + x[j]] * max[i];'), 'let a = half_read_x(u32(i + half_read_x(u32(j)))) * max[i];');
  assert.equal(through('y[at] = f(x[at], (b));'), 'half_write_y(u32(at), f(half_read_x(u32(at)), (b)));');
  assert.equal(through('y[at] += v;'), 'half_write_y(u32(at), half_read_y(u32(at)) + (v));');
  assert.equal(through('if (y[i].x == 0f) { a.x[i] = 1f; }'), 'if (half_read_y(u32(i)).x == 0f) { a.x[i] = 1f; }');
});
