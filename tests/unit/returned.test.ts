// A training that comes back from a cluster: its weights under our names, its curves and scores, beside the run that was exported; what is
// not done, damaged or of something else is said.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test, { after } from 'node:test';
import { findReturned } from '../../engine/export/returned/find.node.ts';
import { readReturned, type ReturnedFiles } from '../../engine/export/returned/read.ts';
import { torchWeights } from '../../engine/export/safetensors.ts';
import { createStore } from '../../engine/history/store.ts';
import type { NetworkModelFile } from '../../engine/learners/network/file.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { isModel } from '../../engine/pretrained/paths.node.ts';
import { returnedMetadata } from '../../engine/protocol/returned.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { importReturned } from '../../engine/runs/import-returned.ts';
import { decodeSafetensors, decodeText, encodeSafetensors } from '../../engine/train/safetensors.ts';
import { makeTable } from '../support/table.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

const { data } = makeTable({ rows: 40, numeric: 3, classes: 3 });
const file: NetworkModelFile = {
  ...{ learner: 'network', input: data.input, output: data.output, task: 'classification' },
  training: { ...defaultTraining(40, 'classification'), seed: 1 },
  model: {
    version: 1,
    layers: [{ type: 'dense', units: 4, id: 'a.b' }, { type: 'batch_norm' }, { type: 'output' }],
  },
};
const shapes = {
  ...{ 'a.b.weight': [3, 4], 'a.b.bias': [4], '1.weight': [4], '1.bias': [4] },
  ...{ '1.running_mean': [4], '1.running_var': [4], '2.weight': [4, 3], '2.bias': [3] },
};
const weights = Object.fromEntries(
  Object.entries(shapes).map(([name, shape], at) => {
    const length = shape.reduce((product, size) => product * size, 1);
    return [name, { shape, data: Float32Array.from({ length }, (_, i) => at + i / 16) }];
  }),
);
const scores = { train_loss: 0.5, val_loss: 0.6, val_accuracy: 0.75 };
const result = {
  ...{ version: 1, reason: 'early_stopped', epochs: 2, steps: 8, seconds: 1.25, examplesPerSecond: 64, bestEpoch: 1 },
  ...{ processes: 4, kind: 'gpu', device: 'NVIDIA A100', torch: '2.13.0', metrics: scores },
};
const points = [point('step_loss', 1, 0.9), point('val_loss', 8, 0.6)];

function filesOf(record: RunRecord): ReturnedFiles {
  const about = returnedMetadata({ record, model: JSON.stringify(file), preprocessing: '{}' });
  return {
    source: 'result',
    weights: torchWeights(file, weights, about),
    metrics: points.map((one) => `${JSON.stringify(one)}\n`).join(''),
    result: JSON.stringify(result),
  };
}

const home = temporaryHome({ after } as never);
const store = createStore(home);
after(() => store.close());
const owner = { pid: process.pid, startedAt: 0 };
const left = await store.createRun(newRun());
const files = filesOf(left);

test('weights, curves and scores come back as a run that names the one that left; twice is once', async () => {
  const returned = readReturned(files);
  assert.deepEqual(decodeSafetensors(returned.files['best.safetensors']).tensors, weights);
  assert.equal(returned.parameters, 12 + 4 + 8 + 12 + 3);
  const { run, again } = await importReturned({ store, returned, owner });
  assert.deepEqual([run.parent, run.relation, again], [left.id, 'trained elsewhere', false]);
  assert.deepEqual([run.state, run.name, run.device, run.threads], ['completed', 'first, elsewhere', 'gpu', 4]);
  assert.deepEqual([run.result?.metrics, run.result?.bestEpoch], [scores, 1]);
  assert.equal(run.result?.remark, '2 epochs, 8 steps elsewhere, by 4 processes on NVIDIA A100, PyTorch 2.13.0');
  assert.deepEqual(await store.metrics({ run: run.id }), points);
  const kept = await store.readFile({ run: run.id, file: 'model.json' });
  assert.equal(decodeText(kept!), JSON.stringify(file));
  const second = await importReturned({ store, returned, owner });
  assert.deepEqual([second.again, second.run.id], [true, run.id]);
});

test('a run of another history, or one that is gone, comes back without a parent, and says which it was', async () => {
  const returned = readReturned(filesOf({ ...left, createdAt: 1, dataset: 'elsewhere' }));
  const { run } = await importReturned({ store, returned, owner });
  assert.deepEqual([run.parent, run.relation], [null, null]);
  const [{ message }] = await store.log({ run: run.id });
  assert.match(message, /^Trained elsewhere from run 1 \(first\), which is not in this history, by 4 processes/);
});

test('what is damaged is named, and nothing is kept', () => {
  const refused = (changes: Partial<ReturnedFiles>, why: RegExp) =>
    assert.throws(() => readReturned({ ...files, ...changes }), why);
  refused({ metrics: `${files.metrics}{"series":` }, /line 3 of metrics\.jsonl is no point of a curve/);
  refused({ result: '{"version":1}' }, /result\.json is not what train\.py writes/);
  const { tensors, metadata } = decodeSafetensors(files.weights);
  const { ['2.weight']: turned, ...others } = tensors;
  refused({ weights: encodeSafetensors({ tensors, metadata: {} }) }, /does not say of which run it is/);
  refused(
    { weights: encodeSafetensors({ tensors: others, metadata }) },
    /tensor 2\.weight is missing instead of \[3,4\]/,
  );
  const wrong = { ...others, '2.weight': { shape: [4, 3], data: turned.data } };
  refused(
    { weights: encodeSafetensors({ tensors: wrong, metadata }) },
    /tensor 2\.weight is \[4,3\] instead of \[3,4\]/,
  );
  const broken = { ...others, '2.weight': { shape: [3, 4], data: new Float32Array(12).fill(NaN) } };
  refused({ weights: encodeSafetensors({ tensors: broken, metadata }) }, /2\.weight has values that are no numbers/);
});

test('the project, or the folder in it, is found; one that is not trained, or not done, is told so', async () => {
  const project = join(home, 'project');
  const folder = join(project, 'result');
  mkdirSync(folder, { recursive: true });
  assert.equal(await findReturned(project), null, 'any other folder');
  for (const name of ['train.py', 'config.json', 'initial.safetensors']) writeFileSync(join(project, name), 'x');
  await assert.rejects(findReturned(project), /project has not been trained yet/);
  writeFileSync(join(folder, 'metrics.jsonl'), files.metrics);
  writeFileSync(join(folder, 'weights.safetensors'), files.weights);
  for (const where of [project, folder])
    await assert.rejects(findReturned(where), /The training of \w+ is not done: its scores \(result\.json\)/);
  writeFileSync(join(folder, 'result.json'), files.result);
  assert.deepEqual(await findReturned(folder), files);
  assert.deepEqual(await findReturned(project), { ...files, source: 'project' });
  for (const name of ['weights.safetensors', 'metrics.jsonl']) {
    renameSync(join(folder, name), join(home, name));
    // What a project goes on from lies beside them; it is no model of others.
    writeFileSync(join(folder, 'checkpoint.pt'), 'x');
    for (const where of [project, folder])
      await assert.rejects(
        findReturned(where),
        new RegExp(`${basename(where)} cannot come back as a run: ${name} is missing`),
      );
    assert.equal(await isModel(folder), true, 'nothing to learn from');
    renameSync(join(home, name), join(folder, name));
  }
  // Of three gigabytes, none of which is written.
  truncateSync(join(folder, 'weights.safetensors'), 3e9);
  await assert.rejects(
    findReturned(project),
    /weights\.safetensors of project is too large to be read: 3000 MB of 2147/,
  );
});
