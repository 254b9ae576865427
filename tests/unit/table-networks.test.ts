// RealMLP and TabM: the same curve on every device, with the rates, schedules and fitted scales that they bring along; and all of it
// from the command line.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { inputSpec, type Preprocessing } from '../../engine/data/preprocess/recipe.ts';
import { presetNamed, trainedOn } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { flatCosine, learningRateAt } from '../../engine/optim/schedules.ts';
import { layOutParameters } from '../../engine/plan/layout.ts';
import { buildTrainingGraph } from '../../engine/plan/step.ts';
import { usualTraining } from '../../engine/settings/network.ts';
import { fittedModel } from '../../engine/train/fitted-states.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { lastEvent, penguins, temporaryHome } from '../support/cli.ts';
import { lacksPython, runPython } from '../support/python.ts';
import { sharedGpu } from '../support/shared-gpu.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { missingGpu } from '../support/webgpu.ts';

const made = makeTable({ rows: 150, numeric: 5, numbers: [0, 1, 4], classes: 3 });
const skip = await missingGpu();

/** The preset, small enough for the float64 reference. */
function small(name: 'realmlp' | 'tabm' | 'tabular'): ModelSpec {
  const { spec } = presetNamed(name)!;
  const layers = spec.layers.map((layer) => ({
    ...layer,
    ...('units' in layer ? { units: 12 } : {}),
    ...(layer.type === 'members' ? { members: 4 } : {}),
    ...(layer.type === 'number_embedding' ? { frequencies: 5 } : {}),
  }));
  return { ...spec, layers };
}

function settings(model: ModelSpec): Partial<TrainingSpec> {
  const usual = usualTraining(trainedOn(120, 'classification', { model, classes: 3 }));
  return { ...usual, epochs: 2, batch: 50, seed: 3 };
}

for (const name of ['realmlp', 'tabm', 'tabular'] as const) {
  test(`${name}: the reference, the CPU and the GPU follow the same curve`, async (t) => {
    const model = small(name);
    const curve = async (backend: Backend) => {
      const { points, files } = await trainHere(made, { backend, model, training: settings(model) });
      const { tensors } = decodeSafetensors(files.get('best.safetensors')!);
      return { losses: series(points, 'step_loss'), tensors };
    };
    const exact = await curve(createReferenceBackend());
    assert.equal(exact.losses.length, 6);
    assert.ok(exact.losses.at(-1)! < exact.losses[0], String(exact.losses));
    const { data: scale } = exact.tensors['0.scale'];
    assert.ok(scale[0] !== 1 && scale[2] === 1, 'numbers are scaled, marks of 0 and 1 are not');
    const backends = [createCpuBackend({ threads: 1, native: false }), createCpuBackend({ threads: 2 })];
    if (skip) t.diagnostic(`no GPU: ${skip}`);
    else backends.push(await sharedGpu());
    for (const backend of backends) {
      const { losses } = await curve(backend);
      const difference = Math.max(...losses.map((loss, i) => Math.abs(loss - exact.losses[i])));
      assert.ok(difference < 2e-4, `${backend.device.name}: ${difference}`);
    }
  });
}

test('scales are fitted to the rows of the training split alone: median 0, quartiles 1 apart', async () => {
  const { model } = { model: small('realmlp') };
  const resolved = resolveModel(model, made.data.input, 3);
  const fitted = await fittedModel(resolved, made.data, made.readShard);
  const [shift, scale] = fitted.layers[0].states.map(({ values }) => values!);
  const { train } = made.data.counts;
  for (const column of [0, 1, 4]) {
    const values = Array.from({ length: train }, (_, row) => made.x[row * 5 + column] * scale[column] + shift[column]);
    values.sort((a, b) => a - b);
    const at = (share: number): number => {
      const place = share * (train - 1);
      const below = Math.floor(place);
      return values[below] + (place - below) * (values[Math.min(below + 1, train - 1)] - values[below]);
    };
    assert.ok(Math.abs(at(0.5)) < 1e-6 && Math.abs(at(0.75) - at(0.25) - 1) < 1e-6);
  }
  assert.deepEqual([shift[2], scale[2], shift[3], scale[3]], [0, 1, 0, 1]);
  assert.deepEqual(resolved.states[0].values, undefined);
});

test('a column that is mostly one value is scaled by the others, not by the farthest of them', async () => {
  const x = Float32Array.from(made.x);
  const { train } = made.data.counts;
  // Four fifths are 0, the others 1, 2 and 3, but for one of 1,000.
  for (let row = 0; row < train; row++) x[row * 5] = row % 5 > 0 ? 0 : row === 0 ? 1000 : 1 + (row % 3);
  const readShard: typeof made.readShard = async (shard) => {
    const [start, end] = [made.data.shardStarts[shard], made.data.shardStarts[shard + 1]];
    return { ...(await made.readShard(shard)), x: x.subarray(start * 5, end * 5) };
  };
  const fitted = await fittedModel(resolveModel(small('realmlp'), made.data.input, 3), made.data, readShard);
  const [shift, scale] = fitted.layers[0].states.map(({ values }) => values![0]);
  assert.deepEqual([shift + 0, scale], [0, 0.25]);
});

test('the pack of the default is trained like RealMLP; parts that are not even are refused', () => {
  const about = trainedOn(5000, 'classification', { model: presetNamed('tabular')!.spec, classes: 3 });
  assert.deepEqual(
    [about.model.recipe, trainedOn(5000, 'classification', { model: small('tabm') }).model.recipe],
    ['realmlp', 'tabm'],
  );
  const uneven = [{ type: 'dense', units: 5 }, { type: 'members', members: 2, sees: 'part' }, { type: 'output' }];
  assert.throws(() => resolveModel({ version: 1, layers: uneven }, made.data.input, 3), {
    message: /deals out 5 values to 2 members/,
    hint: 'Give the layer before it 6 units.',
  });
});

test('parameters with one rate lie side by side, those that decay first', () => {
  const { parameters } = resolveModel(presetNamed('realmlp')!.spec, made.data.input, 3);
  const { groups, offsets, count } = layOutParameters(parameters).get('f32')!;
  assert.deepEqual(
    groups.map(({ rate }) => Number(rate.toFixed(4))),
    [1, 0.1, 6, Number((1 / Math.sqrt(14)).toFixed(4)), 0.0625],
  );
  assert.equal(groups[0].count, 0);
  assert.equal(groups.at(-1)!.offset + groups.at(-1)!.count, count);
  for (const { name, rate = 1, decay } of parameters) {
    const group = groups.find((one) => one.rate === rate)!;
    const place = offsets.get(name)! - group.offset;
    assert.ok(place >= 0 && place < group.count && place < group.decayCount === decay, name);
  }
});

test('four waves end at 0, each twice as long as the one before; dropout and decay fall in the second half', () => {
  const training = usualTraining(trainedOn(5000, 'classification', { model: small('realmlp'), classes: 3 }));
  assert.deepEqual(
    [training.schedule.name, training.schedule.regularisation, training.optimizer.beta2],
    ['coslog4', 'flat_cosine', 0.95],
  );
  const rate = (share: number): number => learningRateAt(training, 1500 * share, 1501, 100) / 0.04;
  for (const [share, wanted] of [
    [0, 0],
    [1 / 15, 0],
    [3 / 15, 0],
    [7 / 15, 0],
    [1, 0],
    [(2 ** 3.5 - 1) / 15, 1],
  ] as const) {
    assert.ok(Math.abs(rate(share) - wanted) < 1e-4, `${share}: ${rate(share)}`);
  }
  assert.deepEqual(
    [0, 0.5, 0.75, 1].map(flatCosine).map((value) => Number(value.toFixed(6))),
    [1, 1, 0.5, 0],
  );
});

test('a network for pictures with an NTK layer is trained as pictures are; dropout does not fall while they are mixed', () => {
  const input = { kind: 'image', channels: 1, height: 4, width: 4 } as const;
  const output = { kind: 'classes', column: 'y', classes: ['a', 'b'] } as const;
  const spec: ModelSpec = {
    version: 1,
    layers: [{ type: 'flatten' }, { type: 'dense', units: 4, parametrisation: 'ntk' }, { type: 'output' }],
  };
  const training = usualTraining(trainedOn(120, 'classification', { input, model: spec, classes: 2 }));
  const plain = usualTraining(trainedOn(120, 'classification', { input, model: { ...spec, layers: [] }, classes: 2 }));
  assert.deepEqual(training, plain);
  const model = resolveModel(spec, input, 2);
  const data = { rows: 120, width: 16, targets: 1 };
  const mixed = { ...training, augmentation: { ...training.augmentation!, mixup: 0.4 } };
  const falling = { ...mixed, schedule: { ...mixed.schedule, regularisation: 'flat_cosine' } } as const;
  const stepOf = (one: TrainingSpec) =>
    buildTrainingGraph({ model, output, training: one, data, stepCapacity: 4, predictSteps: 1 }, 8);
  assert.ok(stepOf(mixed).gradients.size > 0);
  assert.throws(() => stepOf(falling), /cannot fall while pictures are mixed/);
});

test('marks of 0 and 1 are no numbers; a table of numbers alone says nothing', () => {
  const base = { missing: [] as string[], impute: 0, mean: 0, deviation: 1 };
  const number = (column: string, indicator: boolean) => ({ kind: 'number', column, ...base, indicator }) as const;
  const target = { kind: 'value', column: 't', missing: [] as string[], offset: 0, scale: 1 } as const;
  const recipe: Preprocessing = {
    version: 1,
    features: [
      number('a', true),
      { kind: 'one_hot', column: 'b', missing: [], categories: ['x', 'y'], indicator: false },
      { kind: 'datetime', column: 'c', ...base, parts: ['hour'], indicator: true },
    ],
    target,
    leftOut: [],
  };
  const numbersOf = (one: Preprocessing): unknown => (inputSpec(one) as { readonly numbers?: unknown }).numbers;
  assert.deepEqual(numbersOf(recipe), [0, 4, 5, 6]);
  assert.equal(numbersOf({ ...recipe, features: [number('a', false)] }), undefined);
});

test('train --model realmlp and tabm, predict, export', async () => {
  const home = temporaryHome({ after } as never);
  for (const [run, name, flags] of [
    ['1', 'realmlp', ['--epochs', '20', '--batch', '64']],
    ['2', 'tabm', ['--epochs', '8', '--batch', '64']],
  ] as const) {
    const finished = await lastEvent(home, 'train', penguins, '--model', name, ...flags);
    assert.ok((finished.metrics as Record<string, number>).test_accuracy > 0.9, JSON.stringify(finished));
    const out = path.join(home, `${name}.csv`);
    const predicted = await lastEvent(home, 'predict', run, penguins, '--out', out);
    assert.ok((predicted.metrics as Record<string, number>).accuracy > 0.9);
    await lastEvent(home, 'export', run, '--format', 'onnx', '--out', path.join(home, `${name}.onnx`));
    await lastEvent(home, 'export', run, '--format', 'pytorch', '--out', path.join(home, name));
  }
});

test(
  'in PyTorch the first ten losses are the run’s, with numbers and without any',
  { skip: lacksPython('numpy', 'torch', 'safetensors') },
  async (t) => {
    const home = temporaryHome(t);
    const marks = path.join(home, 'marks.csv');
    const rows = Array.from({ length: 200 }, (_, i) => [`x${i % 3}`, `y${(i >> 1) % 4}`, i % 2 ? 'yes' : 'no'].join());
    writeFileSync(marks, ['a,b,answer', ...rows].join('\n'));
    // One epoch of 11 or 12 steps: what falls in its second half falls among the first ten.
    for (const [name, table, target, batch] of [
      ['realmlp', marks, 'answer', '14'],
      ['tabular', marks, 'answer', '14'],
      ['tabm', penguins, 'species', '27'],
    ] as const) {
      const { spec } = presetNamed(name)!;
      const model = path.join(home, `${name}.json`);
      // Dropout draws other numbers in PyTorch.
      writeFileSync(model, JSON.stringify({ ...spec, layers: spec.layers.filter(({ type }) => type !== 'dropout') }));
      const flags = ['--epochs', '1', '--batch', batch, '--regularisation', 'flat_cosine'];
      const { run } = await lastEvent(home, 'train', table, '--target', target, '--model', model, ...flags);
      const out = path.join(home, name);
      await lastEvent(home, 'export', String(run), '--format', 'pytorch', '--out', out);
      const said = runPython(['train.py', '--compare'], { cwd: out, env: { OMP_NUM_THREADS: '1' } });
      const differences = [...said.matchAll(/^step \d+: .* difference (\S+)$/gm)].map(([, value]) => Number(value));
      assert.equal(differences.length, 10, said);
      assert.ok(Math.max(...differences) < 1e-5, said);
    }
  },
);
