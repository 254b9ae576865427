// The GPU follows PyTorch and the CPU: gradients of a first step, losses of the first ones, accuracy in the end.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { digitsMlp, openSteps, type StepsShape, tabularMlp } from '../support/steps.ts';
import { type MadeTable, makeTable } from '../support/table.ts';
import { trainHere } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';
import { readAttentionGolden, replayAttention } from './attention.ts';
import { assertFollowsPytorch, goldenNames, readGolden, replay } from './golden.ts';
import { assertFollows, imageGoldenNames, readImageGolden, replayImages } from './images.ts';

const skip = await missingGpu();

for (const golden of goldenNames.map(readGolden)) {
  test(`golden: ${golden.name} on webgpu`, { skip }, async () => {
    const backend = await sharedGpu();
    const got = await replay(golden, backend);
    await backend.close();
    assertFollowsPytorch(golden, got);
  });
}

test('golden: attention on webgpu', { skip }, async () => {
  const golden = readAttentionGolden();
  const backend = await sharedGpu();
  const got = await replayAttention(golden, backend);
  await backend.close();
  assertFollowsPytorch(golden, got);
});

for (const golden of imageGoldenNames.map(readImageGolden)) {
  test(`golden: ${golden.name} on webgpu`, { skip }, async () => {
    const backend = await sharedGpu();
    const replay = await replayImages(golden, backend);
    await backend.close();
    assertFollows(golden, replay, 2e-6, 1.2);
  });
}

for (const shape of [tabularMlp, digitsMlp]) {
  test(`the first 50 losses of ${shape.name} agree on CPU and GPU within 1e-4`, { skip }, async () => {
    const steps = 50;
    const wanted = await firstLosses(shape, createCpuBackend({ threads: 1 }), steps);
    const got = await firstLosses(shape, await sharedGpu(), steps);
    assert.equal(got.length, steps);
    got.forEach((loss, step) => {
      const difference = Math.abs(loss - wanted[step]) / Math.abs(wanted[step]);
      assert.ok(difference <= 1e-4, `step ${step}: ${loss} on the GPU, ${wanted[step]} on the CPU`);
    });
  });
}

test('digits trained on CPU and GPU end within one point of accuracy', { skip }, async () => {
  const table = digits();
  const training = { epochs: 6, batch: 32, seed: 4 };
  const train = async (backend: Backend): Promise<number> => {
    const { result } = await trainHere(table, { backend, training, model: mlp([32], { dropout: 0.1 }) });
    await backend.close();
    return result.metrics.test_accuracy;
  };
  const [cpu, gpu] = [await train(createCpuBackend({ threads: 1 })), await train(await sharedGpu())];
  assert.ok(cpu > 0.85, `accuracy on the CPU: ${cpu}`);
  assert.ok(Math.abs(cpu - gpu) <= 0.01, `accuracy on the CPU ${cpu}, on the GPU ${gpu}`);
});

/** The handwritten digits of the fixtures as a table: 64 pixels from 0 to 1, ten classes. */
function digits(): MadeTable {
  const text = readFileSync(new URL('../fixtures/tables/digits.csv', import.meta.url), 'utf8');
  const rows = text.trim().split('\n').slice(1);
  const made = makeTable({ rows: rows.length, numeric: 64, classes: 10 });
  rows.forEach((line, row) => {
    const values = line.split(',').map(Number);
    made.x.set(
      values.slice(0, 64).map((pixel) => pixel / 16),
      row * 64,
    );
    made.y[row] = values[64];
  });
  return made;
}

async function firstLosses(shape: StepsShape, backend: Backend, steps: number): Promise<Float32Array> {
  const { executable, program } = await openSteps(shape, backend, steps);
  await executable.run(program, steps);
  const losses = (await executable.read('ring.loss', 0, steps)) as Float32Array;
  await backend.close();
  return losses;
}
