// A batch in parts: gradients and losses are means over the whole batch, on every device, with a remainder and classes that weigh
// differently; random numbers differ from part to part; and a batch that does not fit the memory is cut by itself.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { partsOf } from '../../engine/plan/parts.ts';
import { measureSpeed } from '../../engine/train/measure.ts';
import { classWeights, partsOfBatches, trainBatches } from '../../engine/train/session-sizes.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { makeImages } from '../support/images.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const onCpu = (): Backend => createCpuBackend({ threads: 1 });
/** 184 rows to train on: two batches of 64 and a remainder of 56. */
const classes = makeTable({ rows: 230, numeric: 4, classes: 3 });
const numbers = makeTable({ rows: 230, numeric: 4, classes: 0 });
const never = { enabled: false, patience: 1, minimumDelta: 0 };
const usual = { epochs: 3, batch: 64, seed: 5, clipNorm: 0.5, earlyStopping: never };

/** Largest difference of two runs' losses of steps, and of the weights they end with. */
async function differenceOf(made: typeof classes, a: TrainTestOptions, b: TrainTestOptions): Promise<number> {
  const outcome = async (options: TrainTestOptions) => {
    const { points, files, result } = await trainHere(made, options);
    const { tensors } = decodeSafetensors(files.get('best.safetensors')!);
    assert.equal(result.steps, 3 * Math.ceil(184 / options.training!.batch!));
    return [...series(points, 'step_loss'), ...Object.values(tensors).flatMap(({ data }) => [...data])];
  };
  const [first, second] = [await outcome(a), await outcome(b)];
  assert.equal(first.length, second.length);
  return Math.max(...first.map((value, i) => Math.abs(value - second[i])));
}

test('parts are as even as can be, and none is too short for statistics, nor is a remainder', () => {
  assert.deepEqual(partsOf(64, 16), [16, 16, 16, 16]);
  assert.deepEqual(partsOf(65, 22), [22, 22, 21]);
  assert.deepEqual(partsOf(7, 16), [7]);
  assert.deepEqual([partsOf(3, 2), partsOf(3, 2, 2)], [[2, 1], [3]]);
  assert.deepEqual(
    [partsOfBatches(4, 4, false)(4), partsOfBatches(4, 4, true)(4)],
    [
      [1, 1, 1, 1],
      [2, 2],
    ],
  );
  assert.deepEqual([trainBatches(33, 16, false), trainBatches(33, 16, true)], [[16, 1], [16]]);
  assert.deepEqual(trainBatches(34, 16, true), [16, 2]);
});

test('balanced weights are a mean of 1 over the rows, of the classes that rows have', () => {
  assert.deepEqual(classWeights({ classWeights: 'balanced' }, [4, 0, 16], 3), Float32Array.of(2.5, 0, 0.625));
});

/** In float64 the sums' order is all that differs; float32 rounds each part's gradients, and Adam divides by small ones. */
const devices: readonly [name: string, open: () => Backend | Promise<Backend>, tolerance: number][] = [
  ['the reference', createReferenceBackend, 1e-6],
  ['the CPU', onCpu, 1e-4],
  ['WebGPU', sharedGpu, 1e-4],
];

for (const [name, open, tolerance] of devices) {
  test(`4 × 16 is a batch of 64, on ${name}`, { skip: name === 'WebGPU' && skip }, async () => {
    const ways =
      name === 'WebGPU'
        ? ([[4, 64]] as const)
        : ([
            [4, 64],
            [3, 64],
            [4, 50],
            [64, 64],
          ] as const);
    for (const [accumulate, batch] of ways) {
      const training = { ...usual, batch, classWeights: 'balanced' as const };
      const whole = { training, backend: await open() };
      const inParts = { training: { ...training, accumulate }, backend: await open() };
      const difference = await differenceOf(classes, inParts, whole);
      assert.ok(difference < tolerance, `${accumulate} parts of ${batch}: ${difference}`);
    }
    if (name === 'WebGPU') return;
    const training = { ...usual, clipNorm: 0 };
    const parts = { training: { ...training, accumulate: 4 }, backend: await open() };
    const difference = await differenceOf(numbers, parts, { training, backend: await open() });
    assert.ok(difference < tolerance, `of numbers: ${difference}`);
  });
}

test('a run in parts goes on along the same curve, with dropout, also where it goes on in other parts', async () => {
  const model = mlp([8], { dropout: 0.3 });
  const training = { ...usual, accumulate: 4 };
  const whole = await trainHere(classes, { model, training, backend: onCpu() });
  const stopped = await trainHere(classes, {
    model,
    training,
    backend: onCpu(),
    onSubmit: (submits, control) => {
      if (submits === 1) control.stop();
    },
  });
  const checkpoint = stopped.files.get('checkpoint.bin')!;
  assert.ok(stopped.result.steps < whole.result.steps);
  const rest = await trainHere(classes, { model, training, backend: onCpu(), checkpoint });
  assert.deepEqual(rest.files.get('best.safetensors'), whole.files.get('best.safetensors'));
  const others = await trainHere(classes, {
    model,
    training: { ...usual, accumulate: 2 },
    backend: onCpu(),
    checkpoint,
  });
  assert.equal(others.result.steps, whole.result.steps);
});

test('parts of a batch draw different random numbers', async () => {
  // All rows are the same: with one mask for all parts, the loss of a batch in parts would be that of its first part.
  const same = makeTable({ rows: 80, numeric: 4, classes: 0 });
  for (let row = 1; row < 80; row++) same.x.copyWithin(row * 4, 0, 4);
  same.y.fill(same.y[0]);
  const model = mlp([16], { dropout: 0.5 });
  const training = { ...usual, epochs: 1, batch: 64, accumulate: 64, clipNorm: 0 };
  const [parts, one] = [
    await trainHere(same, { model, training, backend: onCpu() }),
    await trainHere(same, { model, training: { ...training, batch: 1, accumulate: 1 }, backend: onCpu() }),
  ].map(({ points }) => series(points, 'step_loss')[0]);
  assert.ok(Math.abs(parts - one) > 1e-3, `${parts} and ${one}`);
});

test('a batch that does not fit the memory is computed in as many parts as do, and it is said', async () => {
  const deep = mlp([64, 64, 64]);
  const many = makeTable({ rows: 2300, numeric: 4, classes: 3 });
  const training = { ...usual, epochs: 2, batch: 1840, clipNorm: 0 };
  const needed = async (accumulate: number): Promise<number> => {
    const backend = onCpu();
    let bytes = 0;
    const compile: Backend['compile'] = async (plan) => {
      const executable = await backend.compile(plan);
      bytes = executable.bytes;
      return executable;
    };
    await trainHere(many, {
      model: deep,
      training: { ...training, epochs: 1, accumulate },
      backend: { ...backend, compile },
    });
    return bytes;
  };
  const [whole, quarter] = [await needed(1), await needed(4)];
  assert.ok(quarter < 0.8 * whole, `${quarter} of ${whole} bytes`);
  const memoryLimit = (whole + quarter) / 2;
  const cramped = await trainHere(many, {
    model: deep,
    training,
    backend: createCpuBackend({ threads: 1, memoryLimit }),
  });
  const ample = await trainHere(many, { model: deep, training, backend: onCpu() });
  assert.match(
    cramped.log.map(({ message }) => message).join('\n'),
    /A batch of 1840 does not fit the memory of the device: it is computed in [24] parts of up to (920|460) rows\./,
  );
  assert.doesNotMatch(ample.log.map(({ message }) => message).join('\n'), /does not fit/);
  const [found, expected] = [cramped, ample].map(({ result }) => result.metrics.val_loss);
  assert.ok(Math.abs(found - expected) < 1e-4, `${found} instead of ${expected}`);

  await assert.rejects(
    trainHere(many, { model: deep, training, backend: createCpuBackend({ threads: 1, memoryLimit: 1e5 }) }),
    { code: 'device.out_of_memory' },
  );
});

test('pictures in parts: batch norm takes its statistics part by part, mixed pictures are mixed within one', async () => {
  const pictures = makeImages({ rows: 80, height: 8, width: 8, channels: 1, classes: 2 });
  const { result } = await trainHere(pictures, {
    model: {
      version: 1,
      layers: [
        { type: 'conv2d', filters: 4, activation: 'relu' },
        { type: 'batch_norm' },
        { type: 'flatten' },
        { type: 'output' },
      ],
    },
    training: { ...usual, batch: 15, accumulate: 15 },
    backend: onCpu(),
  });
  assert.equal(result.reason, 'completed');
  assert.ok(Number.isFinite(result.metrics.val_loss));
});

test('the speed of steps in parts is measured in submits that the tables have room for', async () => {
  const made = makeTable({ rows: 1000, numeric: 4, classes: 3 });
  const { stepMilliseconds } = await measureSpeed(
    {
      ...made,
      backend: onCpu(),
      model: mlp([4]),
      training: { ...defaultTraining(800, 'classification'), ...usual, batch: 256, accumulate: 256 },
      dataBudget: 1e9,
    },
    { clock: () => performance.now(), now: Date.now, breathe: async () => {} },
  );
  assert.ok(stepMilliseconds > 0, `${stepMilliseconds} ms`);
});
