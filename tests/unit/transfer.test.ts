// A run that begins with the weights of another: whole, up to a layer, with layers frozen, and what is said where they do not fit.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { frozenModel } from '../../engine/model/freeze.ts';
import { withLayerRates } from '../../engine/model/layer-rates.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec, OutputSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { planOptions } from '../../engine/train/session-sizes.ts';
import { transferTo } from '../../engine/train/transfer.ts';
import { makeImages } from '../support/images.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';

const base = defaultTraining(160, 'classification');
const calm = { enabled: false, patience: 1, minimumDelta: 0 };
const training: Partial<TrainingSpec> = { epochs: 3, batch: 16, seed: 2, earlyStopping: calm };
const still = { ...base.optimizer, learningRate: 0 };
const table = makeTable({ rows: 200, numeric: 4, classes: 3, embeddings: [{ vocabulary: 30, dimensions: 3 }] });
const images = makeImages({ rows: 120, channels: 1, height: 6, width: 6, classes: 3 });
const cnn: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 4, id: 'stem' },
    { type: 'batch_norm' },
    { type: 'activation' },
    { type: 'flatten' },
    { type: 'dense', units: 6 },
    { type: 'output' },
  ],
};
const cases = [
  { name: 'a table with embedded columns', data: table, model: mlp([8, 5], { dropout: 0.2 }), freeze: 2 },
  { name: 'pictures with batch norm', data: images, model: cnn, freeze: 3 },
] as const;
const on = () => ({ backend: createCpuBackend({ threads: 1 }) });
const start = (file: Uint8Array, upTo?: number) => ({ parent: 7, relation: 'started from', file, upTo }) as const;

const classes = (count: number): OutputSpec => ({
  kind: 'classes',
  classes: Array.from({ length: count }, (_, k) => `class ${k}`),
});

for (const { name, data, model, freeze } of cases) {
  const run = (changes: Partial<TrainTestOptions>) => trainHere(data, { model, training, ...on(), ...changes });
  const parent = run({});
  const best = async (): Promise<Uint8Array> => (await parent).files.get('best.safetensors')!;

  test(`${name}: nothing frozen and a rate of 0, predictions stay`, async () => {
    const { result, log, files } = await run({
      start: start(await best()),
      training: { ...training, epochs: 1, optimizer: still },
    });
    if (data === table) {
      assert.deepEqual(result.metrics, (await parent).result.metrics);
      assert.deepEqual(files.get('best.safetensors'), await best());
    }
    assert.equal(result.steps, (160 / 16) * (data.data.counts.train / 160), 'its own epochs and steps');
    assert.ok(log.filter(({ message }) => message.endsWith('taken from run 7.')).length >= 3);
  });

  test(`${name}: what is frozen stays to the bit, statistics included, and the rest learns`, async () => {
    const { files, points } = await run({
      start: start(await best()),
      training: { ...training, frozenLayers: freeze },
    });
    const [before, after] = [await best(), files.get('best.safetensors')!].map(
      (file) => decodeSafetensors(file).tensors,
    );
    assert.deepEqual(Object.keys(after).sort(), Object.keys(before).sort());
    for (const tensor of Object.keys(before)) {
      const frozen = tensor.startsWith('input.') || tensor.startsWith('stem.') || Number(tensor.split('.')[0]) < freeze;
      const equal = before[tensor].data.every((value, i) => value === after[tensor].data[i]);
      assert.equal(equal, frozen, tensor);
    }
    assert.ok(series(points, 'train_loss').at(-1)! < series(points, 'train_loss')[0]);
    // What is not trained has no memory of the optimizer either.
    const whole = decodeCheckpoint((await parent).files.get('checkpoint.bin')!).tensors;
    const part = decodeCheckpoint(files.get('checkpoint.bin')!).tensors;
    assert.ok(part['optimizer.mean'].data.length < whole['optimizer.mean'].data.length);
  });

  test(`${name}: the plan holds nothing of the way back to what is frozen`, () => {
    const whole = resolveModel(model, data.data.input, 3);
    const calls = (layers: number) => {
      const shape = {
        model: frozenModel(whole, layers),
        training: base,
        data: data.data,
        capacity: 100,
        accumulate: 1,
      };
      const plan = compilePlan(planOptions(shape).options);
      return { plan, calls: plan.programs[Object.keys(plan.programs)[0]].calls };
    };
    const [all, part] = [calls(0), calls(freeze)];
    assert.ok(part.calls.length < all.calls.length, `${part.calls.length} of ${all.calls.length} calls`);
    const back = part.calls.filter(({ origin }) => origin?.phase === 'backward').map(({ origin }) => origin!.layer);
    assert.ok(!back.some((layer) => layer === 'input' || layer === 'stem' || Number(layer) < freeze), back.join());
    assert.ok(
      !Object.keys(part.plan.tensors).some(
        (tensor) => tensor.startsWith('gradient:input') || tensor.startsWith('gradient:0.'),
      ),
    );
  });
}

test('an output layer is taken for the classes it has learned, by their names; without names by their numbers', async () => {
  const { files } = await trainHere(table, { model: mlp([8, 5]), training, ...on() });
  const from = start(files.get('best.safetensors')!);
  const model = resolveModel(mlp([8, 5]), table.data.input, 3);
  const told = (here: readonly string[], there?: readonly string[]) => {
    const { taken, said } = transferTo(model, { ...from, classes: there }, 0, { kind: 'classes', classes: here });
    assert.equal(taken.includes('2.weight'), /taken/.test(said.at(-1)!));
    return said.at(-1)!.replace('Layer 3 (Output): ', '');
  };
  const own = ['bad', 'good', 'mixed'];
  for (const there of [own, ['BAD', 'Good', 'mixed'], undefined]) assert.equal(told(own, there), 'taken from run 7.');
  assert.equal(
    told(own, ['bad', 'mixed', 'fair']),
    'new, as its classes are others: bad, mixed, fair there, bad, good, mixed here.',
  );
  // The same in another order: each class keeps what is known of it.
  const sorted = 'taken from run 7, its outputs in the order of the classes here.';
  assert.equal(told(own, ['Mixed', 'bad', 'good']), sorted);
  assert.equal(told(['1', '0', '2'], ['0', '1', '2']), sorted);
  const trained = transferTo(model, from, 0, { kind: 'classes', classes: own }).weights;
  const there = ['mixed', 'bad', 'good'];
  const { weights } = transferTo(model, { ...from, classes: there }, 0, { kind: 'classes', classes: own });
  for (const name of ['2.weight', '2.bias'])
    trained[name].data.forEach((value, at) => {
      const to = at - (at % 3) + own.indexOf(there[at % 3]);
      assert.equal(weights[name].data[to], value, `${name} ${at}`);
    });
  assert.equal(
    told(own, ['LABEL_0', 'LABEL_1', 'LABEL_2']),
    'taken from run 7, class by class: LABEL_0 for bad, LABEL_1 for good, LABEL_2 for mixed.',
  );
  assert.equal(told(['0', '1', '2'], own), 'taken from run 7, class by class: bad for 0, good for 1, mixed for 2.');
  assert.match(told(['1', '0', '2'], own), /^new, as its classes/);
});

test('grey pictures begin with weights for coloured ones: a grey pixel is the same in all three colours', async () => {
  const coloured = makeImages({ rows: 20, channels: 3, height: 6, width: 6, classes: 3 });
  const { files } = await trainHere(coloured, { model: cnn, training: { ...training, epochs: 1 }, ...on() });
  const from = start(files.get('best.safetensors')!);
  const { weights, taken, said } = transferTo(resolveModel(cnn, images.data.input, 3), from, 1, classes(3));
  assert.equal(
    said[0],
    'Layer 1 “stem” (Conv 2D): taken from run 7, its three colours added up for grey pictures, frozen.',
  );
  assert.ok(taken.includes('stem.weight'));
  const before = decodeSafetensors(from.file).tensors['stem.weight'];
  const { shape, data } = weights['stem.weight'];
  assert.deepEqual(
    [before.shape, shape],
    [
      [4, 3, 3, 3],
      [4, 1, 3, 3],
    ],
  );
  const kernel = (at: number): Float32Array => before.data.subarray(9 * at, 9 * at + 9);
  const sum = (filter: number, at: number): number =>
    [0, 1, 2].reduce((all, colour) => all + kernel(3 * filter + colour)[at], 0);
  data.forEach((value, at) => assert.ok(Math.abs(value - sum(Math.floor(at / 9), at % 9)) < 1e-6));
  // Coloured ones do not begin with weights for grey ones.
  const { files: grey } = await trainHere(images, { model: cnn, training: { ...training, epochs: 1 }, ...on() });
  const model = resolveModel(cnn, coloured.data.input, 3);
  assert.throws(() => transferTo(model, start(grey.get('best.safetensors')!), 0, classes(3)), {
    hint: /pictures of the same size and colours/,
  });
});

test('up to a layer the rest is new; what does not fit, or is frozen with nothing to take, is refused', async () => {
  const { files } = await trainHere(table, { model: mlp([8, 5]), training, ...on() });
  const file = files.get('best.safetensors')!;
  const more = makeTable({ rows: 200, numeric: 4, classes: 5, embeddings: [{ vocabulary: 30, dimensions: 3 }] });
  const model = resolveModel(mlp([8, 5]), more.data.input, 5);
  // The output is as wide as the data: of other classes it is new.
  const wider = transferTo(model, start(file), 0, classes(5));
  assert.deepEqual(wider.taken, ['input.embedding0', '0.weight', '0.bias', '1.weight', '1.bias']);
  assert.equal(wider.said.at(-1), 'Layer 3 (Output): new, of 5 in place of 3.');
  assert.throws(() => transferTo(resolveModel(mlp([8, 6]), more.data.input, 5), start(file), 0, classes(5)), {
    message: /^Layer 2 \(Dense\) does not fit: 1\.weight has to be \[8, 6\], run 7 has \[8, 5\]\.$/,
    hint: 'Take the layers before it alone: --up-to 1.',
  });
  assert.throws(
    () =>
      transferTo(
        resolveModel(
          {
            version: 1,
            layers: [
              { type: 'dense', units: 8, id: '0' },
              { type: 'output', id: '2' },
            ],
          },
          more.data.input,
          5,
        ),
        start(file),
        0,
        classes(5),
      ),
    /Layer 2 “2” \(Output\) does not fit: 2\.weight has to be \[8, 5\], run 7 has \[5, 3\]/,
  );
  const { taken, said } = transferTo(model, start(file, 2), 2, classes(5));
  assert.deepEqual(taken, ['input.embedding0', '0.weight', '0.bias', '1.weight', '1.bias']);
  assert.deepEqual(said.slice(-2), ['Layer 2 (Dense): taken from run 7, frozen.', 'Layer 3 (Output): new.']);
  assert.throws(
    () => transferTo(model, start(file, 1), 2, classes(5)),
    /Layer 2 \(Dense\) is to be frozen, but nothing is taken/,
  );
  const other = makeTable({ rows: 50, numeric: 9, classes: 3 });
  assert.throws(
    () => transferTo(resolveModel(mlp([8, 5]), other.data.input, 3), start(file), 0, classes(3)),
    /0\.weight has to be \[9, 8\]/,
  );
  assert.throws(() => frozenModel(model, 3), /nothing to train/);
  // Seen rows are said.
  const seen = { ...start(file), seen: true };
  const { log } = await trainHere(table, {
    model: mlp([8, 5]),
    training: { ...training, epochs: 1 },
    start: seen,
    ...on(),
  });
  assert.ok(
    log.some(({ level, message }) => level === 'warning' && /it has seen some that are to judge/.test(message)),
  );
});

test('layer-wise rates fall from the output to the input, block by block, and steps go by them', async () => {
  const model = resolveModel(cnn, images.data.input, 3);
  const rates = (decay: number): (readonly [string, number])[] =>
    withLayerRates(model, decay).parameters.map(({ name, rate = 1 }) => [name, rate]);
  assert.deepEqual(
    rates(1),
    rates(1).map(([name]) => [name, 1]),
  );
  assert.deepEqual(
    rates(0.5).filter(([name]) => name.endsWith('weight')),
    [
      ['stem.weight', 0.125],
      ['1.weight', 0.25],
      ['4.weight', 0.5],
      ['5.weight', 1],
    ],
  );
  const block: ModelSpec = {
    version: 1,
    layers: [
      { type: 'dense', units: 4, id: 'a.1' },
      { type: 'dense', units: 4, id: 'a.2' },
      { type: 'output', id: 'o' },
    ],
  };
  const inBlocks = withLayerRates(resolveModel(block, table.data.input, 3), 0.5).parameters;
  assert.deepEqual(
    inBlocks.filter(({ name }) => !name.endsWith('bias')).map(({ name, rate }) => [name, rate]),
    [
      ['input.embedding0', 0.25],
      ['a.1.weight', 0.5],
      ['a.2.weight', 0.5],
      ['o.weight', 1],
    ],
  );
  // One step of SGD is the rate times the gradient: a tenth of it leaves a tenth of the step.
  const step = async (layerDecay: number): Promise<Float32Array> => {
    const optimizer = { ...base.optimizer, name: 'sgd', learningRate: 0.1, weightDecay: 0, momentum: 0 } as const;
    const schedule = { ...base.schedule, name: 'constant', warmupEpochs: 0 } as const;
    const one = { ...training, epochs: 1, batch: 160, optimizer, schedule, clipNorm: 0, layerDecay };
    const { files } = await trainHere(table, { model: mlp([8]), training: one, ...on() });
    return decodeSafetensors(files.get('best.safetensors')!).tensors['0.weight'].data;
  };
  const [whole, tenth, fifth] = [await step(1), await step(0.1), await step(0.2)];
  // first + rate · s for two rates gives first, and so the step of the whole rate.
  const worst = Math.max(...whole.map((value, i) => Math.abs(value - (tenth[i] + 9 * (fifth[i] - tenth[i])))));
  assert.ok(worst < 1e-5, `${worst} off`);
  assert.ok(Math.max(...whole.map((value, i) => Math.abs(value - tenth[i]))) > 1e-3);
});
