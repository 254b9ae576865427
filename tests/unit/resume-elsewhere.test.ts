// A run that stops on one device and goes on with another memory for its rows, or on another device: each row is seen exactly
// once an epoch, the number of steps stays, and so does the curve.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend, Executable, HostArray } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import type { TrainyardError } from '../../engine/protocol/errors.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { ResidentRows } from '../../engine/train/resident-rows.ts';
import { decodeSafetensors, encodeSafetensors } from '../../engine/train/safetensors.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { notingVisits } from '../support/visits.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const epochs = 3;
const rowBytes = 4 * 5;
/** Memory for so many rows. */
const memoryFor = (rows: number): number => rows * rowBytes;
const ample = memoryFor(1e6);
const training = { epochs, batch: 16, seed: 4, earlyStopping: { enabled: false, patience: 1, minimumDelta: 0 } };

const onCpu = (): Backend => createCpuBackend({ threads: 1 });

/** 487 rows to train on: 30 steps of 16 and one of 7. */
const table = makeTable({ rows: 607, numeric: 4, classes: 3, shardRows: 100, split: [487 / 607, 60 / 607, 60 / 607] });
const stepsPerEpoch = 31;

interface Part {
  readonly memory: number;
  readonly backend?: () => Backend | Promise<Backend>;
  /** Stops after so many rows of the run. */
  readonly until?: number;
}

/** Trains in parts, each from the checkpoint of the one before; returns the rows of all steps, and the last part's result. */
async function trainInParts(parts: readonly Part[], made = table, options: Partial<typeof training> = {}) {
  const steps: number[][] = [];
  let checkpoint: Uint8Array | undefined;
  for (const { memory, until, backend = onCpu } of parts) {
    const visits = notingVisits(await backend(), made.data.width);
    const seen = (): number => [...steps, ...visits.steps].reduce((sum, { length }) => sum + length, 0);
    const trained = await trainHere(made, {
      model: mlp([8]),
      training: { ...training, ...options },
      dataBudget: memory,
      backend: visits.backend,
      checkpoint,
      onSubmit: (_, control) => {
        if (until !== undefined && seen() >= until) control.stop();
      },
    });
    await visits.backend.close();
    steps.push(...visits.steps);
    checkpoint = trained.files.get('checkpoint.bin');
    if (until === undefined) return { steps, trained };
    assert.equal(trained.result.reason, 'stopped');
  }
  throw new Error('the last part has to run to the end');
}

function checkEachRowOnce(steps: readonly (readonly number[])[], rows: readonly number[]): void {
  assert.equal(steps.length, epochs * stepsPerEpoch, 'steps of the whole run');
  for (let epoch = 0; epoch < epochs; epoch++) {
    const seen = steps.slice(epoch * stepsPerEpoch, (epoch + 1) * stepsPerEpoch).flat();
    assert.deepEqual(seen.toSorted(), rows.toSorted(), `epoch ${epoch + 1}: each row once`);
  }
}

const firstValues = Array.from({ length: 487 }, (_, row) => table.x[row * 4]);

test('with less memory, with more, and with other windows each row is seen once an epoch', async () => {
  const whole = await trainInParts([{ memory: ample }]);
  checkEachRowOnce(whole.steps, firstValues);
  for (const [first, second] of [
    [ample, memoryFor(150)],
    [memoryFor(150), ample],
    [memoryFor(150), memoryFor(70)],
    [memoryFor(70), memoryFor(150)],
    [ample, memoryFor(16)],
  ]) {
    const { steps, trained } = await trainInParts([{ memory: first, until: 700 }, { memory: second }]);
    checkEachRowOnce(steps, firstValues);
    assert.equal(trained.result.steps, epochs * stepsPerEpoch);
    const undisturbed = await trainInParts([{ memory: first }]);
    const same = second >= first ? epochs : 2;
    // The epoch under way goes on in its order, whatever the memory; a later one only where the windows fit.
    assert.deepEqual(steps.slice(0, same * stepsPerEpoch), undisturbed.steps.slice(0, same * stepsPerEpoch));
    if (second < first) {
      const cramped = await trainInParts([{ memory: second }]);
      assert.deepEqual(steps.slice(2 * stepsPerEpoch), cramped.steps.slice(2 * stepsPerEpoch), 'in its windows');
      continue;
    }
    const [losses, expected] = [trained, undisturbed.trained].map(({ points }) => series(points, 'val_loss'));
    assert.deepEqual(losses, expected.slice(-losses.length), 'to the bit');
  }
});

test('rows gathered from several shards bring their own targets', async () => {
  const written = new Map<string, HostArray>();
  const executable = {
    write: (tensor: string, data: HostArray, offset = 0) => void written.set(`${tensor} ${offset}`, data),
  } as Executable;
  const rows = new ResidentRows(table.data, table.readShard, executable, 70);
  const wanted = [99, 100, 199, 486].map((row) => table.y.findLastIndex((y, i) => y > 0 && i <= row));
  await rows.gather(Uint32Array.from(wanted));
  const expected = wanted.map((row) => table.y[row]);
  const onDevice = [...written].flatMap(([place, data]) => (place.startsWith('data.y') ? [...data] : []));
  assert.deepEqual([wanted.map((row) => rows.targets[row]), onDevice], [expected, expected]);
});

test('stopped again and again, each time with another memory', async () => {
  const memories = [150, 1e6, 70, 33, 300].map(memoryFor);
  const parts = memories.map((memory, i): Part => ({ memory, until: 200 * (i + 1) }));
  const { steps } = await trainInParts([...parts, { memory: ample }]);
  checkEachRowOnce(steps, firstValues);
});

test('on another device the run goes on along the same curve', { skip }, async () => {
  const onGpu = async (): Promise<Backend> => createWebgpuBackend(await testGpu());
  const { trained } = await trainInParts([{ memory: ample }]);
  const moved = await trainInParts([
    { memory: memoryFor(150), until: 300 },
    { memory: memoryFor(70), until: 800, backend: onGpu },
    { memory: ample, backend: createReferenceBackend },
  ]);
  checkEachRowOnce(moved.steps, firstValues);
  const [found, expected] = [moved.trained, trained].map(({ result }) => result.metrics.val_loss);
  assert.ok(Math.abs(found - expected) < 0.05, `${found} instead of ${expected}`);

  // In the same windows all the way, it is the same curve.
  const straight = await trainInParts([
    { memory: ample, until: 700 },
    { memory: ample, backend: createReferenceBackend },
  ]);
  assert.ok(Math.abs(straight.trained.result.metrics.val_loss - expected) < 1e-6);
});

/** A checkpoint as the version before wrote it. */
function inFirstFormat(checkpoint: Uint8Array, place: { readonly window: number; readonly windowStep: number }) {
  const { tensors, metadata } = decodeSafetensors(checkpoint);
  const { rows, windowRows: _, ...state } = JSON.parse(metadata.state) as Record<string, unknown>;
  const old = { ...state, lossRows: rows, ...place };
  return encodeSafetensors({ tensors, metadata: { format: 'trainyard-checkpoint-1', state: JSON.stringify(old) } });
}

test('a checkpoint of the first format goes on where its place is known, and is refused where it is not', async () => {
  const stopped = await trainHere(table, {
    training,
    onSubmit: (submits, control) => {
      if (submits === 1) control.stop();
    },
  });
  const checkpoint = stopped.files.get('checkpoint.bin')!;
  const { rows } = decodeCheckpoint(checkpoint).state;
  assert.ok(rows > 0 && rows % 16 === 0);
  const old = inFirstFormat(checkpoint, { window: 0, windowStep: rows / 16 });
  const [again, today] = [
    await trainHere(table, { training, checkpoint: old }),
    await trainHere(table, { training, checkpoint }),
  ];
  assert.deepEqual(series(again.points, 'step_loss'), series(today.points, 'step_loss'));

  const elsewhere = inFirstFormat(checkpoint, { window: 1, windowStep: rows / 16 });
  await assert.rejects(trainHere(table, { training, checkpoint: elsewhere }), (error: TrainyardError) => {
    assert.equal(error.code, 'run.checkpoint');
    assert.match(error.message, /earlier version/);
    assert.match(error.hint, /device it was trained on/);
    return true;
  });
});
