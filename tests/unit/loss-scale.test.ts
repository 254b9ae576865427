// Gradients in 16 bits: the loss is scaled on the device, steps that overflow are skipped, and a run resumes with the scale it had.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { TrainingSpec } from '../../engine/model/spec.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { Session } from '../../engine/train/session.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const table = makeTable({ rows: 230, numeric: 4, classes: 3 });
const model = mlp([16, 12]);
const base: Partial<TrainingSpec> = { epochs: 2, batch: 16, seed: 3, precision: 'mixed16' };
const run = (backend: Backend, training: Partial<TrainingSpec> = {}, rest: TrainTestOptions = {}) =>
  trainHere(table, { backend, model, training: { ...base, ...training }, ...rest });

const optimizer = (name: 'adam' | 'adamw' | 'sgd' | 'rmsprop') => ({
  optimizer: {
    ...{ name, learningRate: 0.003, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, alpha: 0.99 },
    ...{ momentum: 0.9, nesterov: false, weightDecay: 0.01 },
  },
});

for (const [what, settings] of [
  ['Adam', optimizer('adam')],
  ['AdamW, clipped', { ...optimizer('adamw'), clipNorm: 0.05 }],
  ['SGD in parts', { ...optimizer('sgd'), accumulate: 3 }],
  ['RMSprop with checkpointing', { ...optimizer('rmsprop'), checkpointing: true }],
] as const) {
  test(`${what} follows its curve in float32`, async () => {
    const whole = await run(createReferenceBackend(), { ...settings, precision: 'float32' } as Partial<TrainingSpec>);
    const half = await run(createReferenceBackend(), settings as Partial<TrainingSpec>);
    const [wanted, found] = [whole, half].map(({ points }) => series(points, 'step_loss'));
    assert.ok(found.length >= 20 && found.length === wanted.length);
    const error = Math.max(...found.map((loss, i) => Math.abs(loss - wanted[i]) / wanted[i]));
    assert.ok(error > 0 && error < 2e-3, String(error));
    assert.deepEqual(series(half.points, 'skipped_steps'), [0, 0]);
    assert.deepEqual(series(half.points, 'loss_scale'), [65536, 65536]);
    assert.deepEqual(series(whole.points, 'loss_scale'), []);
  });
}

const devices = [
  ['the reference', false, async () => createReferenceBackend()],
  ['the GPU', skip, sharedGpu],
] as const;
for (const [what, without, open] of devices) {
  test(`steps that overflow are skipped and said, and the scale is halved, on ${what}`, { skip: without }, async () => {
    const first = await run(await open(), {}, { onSubmit: (submits, control) => submits === 1 && control.stop() });
    const checkpoint = first.files.get('checkpoint.bin')!;
    const { tensors } = decodeCheckpoint(checkpoint);
    assert.deepEqual([...tensors['loss.scale'].data], [65536]);
    assert.equal(tensors['optimizer.scaling'].data[1], 0);
    // Gradients of 0.06 in a batch of 16 are beyond 65504 then.
    const edited = spoil(checkpoint, 65536, 2 ** 24);
    const rest = await run(await open(), {}, { checkpoint: edited });
    const skipped = series(rest.points, 'skipped_steps').at(-1)!;
    assert.ok(skipped >= 1 && skipped <= 12, String(skipped));
    assert.equal(series(rest.points, 'loss_scale').at(-1), 2 ** (24 - skipped));
    assert.match(rest.log.map(({ message }) => message).join('\n'), /skipped: a gradient was beyond 16 bits/);
    assert.ok(series(rest.points, 'train_loss').every(Number.isFinite));
    const again = await run(await open(), {}, { checkpoint: edited });
    assert.deepEqual(again.files.get('best.safetensors'), rest.files.get('best.safetensors'));
  });
}

test('a session has a scale whoever runs its steps', async () => {
  const { data, readShard } = table;
  const training = { ...defaultTraining(data.counts.train, data.task), ...base };
  const session = await Session.open({
    backend: createReferenceBackend(),
    ...{ model, training, data, readShard, dataBudget: 1e9 },
  });
  assert.deepEqual([...(await session.executable.read('loss.scale'))], [65536]);
  session.close();
});

/** The file with the one number in its scale replaced. */
function spoil(file: Uint8Array, from: number, to: number): Uint8Array {
  const head = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const names = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + head))) as Record<
    string,
    { readonly data_offsets: readonly [number, number] }
  >;
  const copy = file.slice();
  const view = new DataView(copy.buffer);
  const at = 8 + head + names['loss.scale'].data_offsets[0];
  assert.equal(view.getFloat32(at, true), from);
  view.setFloat32(at, to, true);
  return copy;
}
