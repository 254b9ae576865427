// What of a picture speaks for a class: gradients of the input against finite differences, and attributions that add up.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { decodeWeights, readTrained } from '../../engine/learners/predict.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import { compileInputGradients, inputTensors } from '../../engine/plan/input-gradients.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import { completeness } from '../../engine/train/integrated-gradients.ts';
import { weightNames, writeWeights } from '../../engine/train/weights.ts';
import { makeImages } from '../support/images.ts';
import { trainHere } from '../support/train.ts';

/** Smooth, so that finite differences are exact; with what is another thing in training than in prediction. */
const model: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 6 },
    { type: 'batch_norm' },
    { type: 'activation', activation: 'tanh' },
    { type: 'average_pool' },
    { type: 'flatten' },
    { type: 'dropout', rate: 0.2 },
    { type: 'output' },
  ],
};

async function trained(classes: number, spec: ModelSpec = model) {
  const images = makeImages({ rows: 60, channels: 3, height: 6, width: 6, classes });
  const files = new Map<RunFile, Uint8Array>();
  const backend = createReferenceBackend();
  await trainHere(images, { backend, model: spec, training: { epochs: 3, batch: 16 }, files });
  const file = new TextDecoder().decode(files.get('model.json'));
  return { images, file, weights: files.get('best.safetensors')! };
}

test('gradients of the input are what finite differences say, on the float64 reference', async () => {
  const { images, weights } = await trained(3);
  const { data } = images;
  const training = { loss: 'auto', seed: 1 } as never;
  const resolved = resolveModel(model, data.input, outputWidth(data.output, 'auto'));
  const [batch, width, outputs] = [2, data.width, resolved.outputs];
  const sizes = { rows: 1, width, targets: data.targets };
  const plan = compileInputGradients({ model: resolved, output: data.output, training, data: sizes }, batch);
  const executable = await createReferenceBackend().compile(plan);
  writeWeights(executable, plan, weightNames(resolved), decodeWeights(weights, 1));
  const x = Float32Array.from({ length: batch * width }, (_, i) => Math.sin(i * 1.7));
  // The first row asks for class 2, the second for the opposite of class 0.
  const seeds = Float32Array.of(0, 0, 1, -1, 0, 0);
  executable.write(inputTensors.seeds, seeds);
  const score = async (values: Float32Array): Promise<readonly number[]> => {
    executable.write(inputTensors.x, values);
    await executable.run(`gradients@${batch}`, 1);
    const found = (await executable.read(inputTensors.outputs)) as Float32Array;
    return [0, 1]
      .map((row) => found.subarray(row * outputs, (row + 1) * outputs))
      .map((all, row) => all.reduce((sum, value, k) => sum + value * seeds[row * outputs + k], 0));
  };
  await score(x);
  const gradient = ((await executable.read(inputTensors.gradient)) as Float32Array).slice();
  const h = 2 ** -6;
  for (let i = 0; i < width; i += 7) {
    const moved = (by: number): Float32Array => x.map((value, at) => (at % width === i ? value + by : value));
    const [above, below] = [await score(moved(h)), await score(moved(-h))];
    for (const row of [0, 1]) {
      const slope = (above[row] - below[row]) / (2 * h);
      const own = gradient[row * width + i];
      assert.ok(Math.abs(slope - own) < 2e-4 + 2e-3 * Math.abs(own), `${own} of ${i} is ${slope}`);
    }
  }
  executable.dispose();
});

const relu: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 6 },
    { type: 'batch_norm' },
    { type: 'activation' },
    { type: 'max_pool' },
    { type: 'flatten' },
    { type: 'dense', units: 12 },
    { type: 'activation' },
    { type: 'output' },
  ],
};

for (const classes of [2, 3]) {
  test(`integrated gradients of ${classes} classes add up to the score's difference, on the reference and the CPU alike`, async () => {
    const { images, file, weights } = await trained(classes, relu);
    const chosen = Array.from({ length: 20 }, (_, row) => row % classes);
    const data = { ...images.data, counts: { train: 0, validation: 0, test: 60 } };
    const found = [];
    for (const backend of [createReferenceBackend(), createCpuBackend({ threads: 1 })]) {
      const rows = { data, readShard: images.readShard, dataBudget: 1e9, backend: async () => backend };
      found.push((await readTrained(file, weights, 1).attributions!(rows, chosen))!);
      await backend.close();
    }
    const [exact, own] = found;
    assert.deepEqual([exact.width, exact.height, exact.pictures.length], [6, 6, 16]);
    assert.equal(exact.values.length, 16 * 36);
    for (const { pictures } of found) {
      for (const { sum, difference } of pictures) {
        assert.ok(Math.abs(sum - difference) <= completeness * Math.abs(difference), `${sum} is not ${difference}`);
      }
    }
    for (let picture = 0; picture < 16; picture++) {
      const map = exact.values.subarray(picture * 36, (picture + 1) * 36);
      assert.ok(Math.min(...map) >= 0 && [0, 1].includes(Math.max(...map)));
    }
    assert.ok(exact.values.every((value, i) => Math.abs(value - own.values[i]) < 1e-3));
  });
}
