// ONNX: every layer there is, run by onnxruntime, answers as the float64 reference does; columns as a file has them become what
// our own preprocessing makes of them; a certificate tells a right model from a wrong one.

import assert from 'node:assert/strict';
import test from 'node:test';
import { InferenceSession, Tensor, env } from 'onnxruntime-web/wasm';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { RowEncoder } from '../../engine/data/preprocess/encode.ts';
import { inputSpec, type Preprocessing } from '../../engine/data/preprocess/recipe.ts';
import { allowedDifference, certify, relativeDifferences } from '../../engine/export/certificate.ts';
import { exportOnnx } from '../../engine/export/onnx/model.ts';
import { opExports } from '../../engine/export/onnx/ops.ts';
import { learner as network } from '../../engine/learners/network/learner.ts';
import type { NetworkModelFile } from '../../engine/learners/network/file.ts';
import { layers } from '../../engine/model/registry.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import { cifarResnet } from '../../engine/model/image-presets.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { InputSpec, LayerSpec, ModelSpec, OutputSpec } from '../../engine/model/spec.ts';
import type { Answers } from '../../engine/protocol/exports.ts';
import type { Weights } from '../../engine/train/weights.ts';
import { makeImages } from '../support/images.ts';
import { compareTexts, textLayers, textTable } from '../support/onnx-texts.ts';
import { uniform } from '../support/table.ts';

env.wasm.numThreads = 1;

const classes = ['a', 'b', 'c'];
const output: OutputSpec = { kind: 'classes', classes };

function fileOf(layersOf: readonly LayerSpec[] | ModelSpec, input: InputSpec): NetworkModelFile {
  const model: ModelSpec = 'version' in layersOf ? layersOf : { version: 1, layers: layersOf };
  const training = defaultTraining(100, 'classification', input, model);
  return { learner: 'network', model, training, input, output, task: 'classification' };
}

/** Weights anywhere near what training leaves, variances above 0. */
function randomWeights({ model, input }: NetworkModelFile): Weights {
  const random = uniform(7);
  const { parameters, states } = resolveModel(model, input, classes.length);
  const tensors = [...parameters, ...states].map(({ name, shape }) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const positive = name.endsWith('running_var') || /norm|weight/.test(name) === false ? 0.6 : 0;
    return [name, { shape, data: Float32Array.from({ length }, () => random() - 0.5 + positive) }];
  });
  return Object.fromEntries(tensors) as Weights;
}

const layersUsed = new Set<string>();
const pictures = makeImages({ rows: 5, channels: 3, height: 9, width: 8, classes: 3, split: [1, 0, 0] });
const recipeOfPictures = {
  version: 1,
  kind: 'image',
  channels: 3,
  height: 9,
  width: 8,
  fit: 'crop',
  mean: [0.4, 0.5, 0.45],
  deviation: [0.2, 0.25, 0.3],
  classes,
};

/** What onnxruntime says of the pictures, and what the reference says. */
async function comparePictures(model: readonly LayerSpec[] | ModelSpec): Promise<readonly number[]> {
  const data = { ...pictures.data, normalization: { mean: [0.4, 0.5, 0.45], deviation: [0.2, 0.25, 0.3] } };
  const file = fileOf(model, data.input);
  for (const { type } of file.model.layers) layersUsed.add(type);
  const weights = randomWeights(file);
  const { bytes } = exportOnnx({ name: 'pictures', file, weights, preprocessing: recipeOfPictures });
  const nhwc = new Uint8Array(pictures.x.length);
  const [C, area] = [3, 72];
  pictures.x.forEach((value, at) => {
    const [row, channel, place] = [Math.floor(at / (C * area)), Math.floor(at / area) % C, at % area];
    nhwc[(row * area + place) * C + channel] = value;
  });
  const found = await runModel(bytes, { pixels: new Tensor('uint8', nhwc, [5, 9, 8, 3]) });
  const rows = { data, readShard: pictures.readShard, dataBudget: 1e9, backend: async () => createReferenceBackend() };
  const { outputs } = await network.read(file, weights).outputs(rows);
  return relativeDifferences(answersOf(outputs), { values: found.probabilities as Float32Array, labels: null });
}

async function runModel(
  bytes: Uint8Array,
  feeds: Readonly<Record<string, Tensor>>,
): Promise<Readonly<Record<string, ArrayLike<unknown>>>> {
  const session = await InferenceSession.create(bytes);
  const results = await session.run(feeds);
  await session.release();
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, data as ArrayLike<unknown>]));
}

function answersOf(logits: ArrayLike<number>): Answers {
  const rows = logits.length / 3;
  const probabilities = new Float64Array(logits.length);
  for (let row = 0; row < rows; row++) {
    const powers = [0, 1, 2].map((k) => Math.exp(logits[row * 3 + k]));
    const sum = powers.reduce((one, other) => one + other, 0);
    powers.forEach((power, k) => (probabilities[row * 3 + k] = power / sum));
  }
  return { rows, probabilities, labels: null, values: null, scale: 1 };
}

test('patches of pictures answer as the reference does', async () => {
  const differences = await comparePictures([
    { type: 'patch_embedding', size: 2, dimensions: 6, classToken: true },
    { type: 'attention', heads: 2 },
    { type: 'pool_positions', pool: 'first' },
    { type: 'output' },
  ]);
  assert.ok(Math.max(...differences) < 1e-6, String(differences));
});

test('layers of pictures answer as the reference does', async () => {
  const differences = await comparePictures([
    { type: 'conv2d', id: 'stem', filters: 8, kernel: 3, padding: 2, dilation: 2, activation: 'leaky_relu' },
    { type: 'batch_norm' },
    { type: 'activation', activation: 'silu' },
    { type: 'dropout2d' },
    { type: 'group_norm', id: 'normed', groups: 4 },
    { type: 'conv2d', filters: 8, groups: 8, bias: false, activation: 'gelu', id: 'deep' },
    { type: 'add', from: ['normed', 'deep', 'stem'] },
    { type: 'max_pool', size: 3, stride: 2, padding: 1 },
    { type: 'average_pool', size: 3, stride: 2, padding: 1 },
    { type: 'upsample', factor: 2 },
    { type: 'conv_transpose2d', filters: 6, stride: 2, padding: 1, outputPadding: 1, groups: 2, activation: 'tanh' },
    { type: 'conv_transpose2d', filters: 4, stride: 1, outputPadding: 0, bias: false },
    { type: 'global_average_pool' },
    { type: 'layer_norm' },
    { type: 'dense', units: 12, activation: 'gelu' },
    { type: 'reshape', channels: 3, height: 2, width: 2 },
    { type: 'flatten', id: 'flat' },
    { type: 'dropout' },
    { type: 'dense', units: 5, activation: 'sigmoid', bias: false, id: 'narrow' },
    { type: 'concat', from: ['flat', 'narrow'] },
    { type: 'output' },
  ]);
  assert.ok(Math.max(...differences) < 1e-6, String(differences));
});

test('layers on texts answer as the reference does, whatever is padding', async () => {
  const file = fileOf(textLayers, textTable.data.input);
  for (const { type } of file.model.layers) layersUsed.add(type);
  const { found, wanted } = await compareTexts(file, randomWeights(file));
  const largest = Math.max(...Array.from(wanted, Math.abs));
  assert.equal(found.length, wanted.length);
  Array.from(wanted, (value, i) =>
    assert.ok(Math.abs(found[i] - value) <= 2e-6 * largest, `${i}: ${found[i]}, ${value}`),
  );
});

test('a network of twenty layers is exported within two seconds and answers as the reference does', async () => {
  const model = cifarResnet(20, 'resnet20');
  const file = fileOf(model, { kind: 'image', channels: 3, height: 32, width: 32 });
  const weights = randomWeights(file);
  const start = performance.now();
  const { bytes } = exportOnnx({
    name: 'r',
    file,
    weights,
    preprocessing: { ...recipeOfPictures, height: 32, width: 32 },
  });
  const seconds = (performance.now() - start) / 1000;
  assert.ok(bytes.length > 1e6 && seconds < 2, `${seconds} s`);
  assert.ok(Math.max(...(await comparePictures(model))) < 1e-6);
});

test('what only a training step has is marked so, and nothing else', () => {
  const training = Object.entries(opExports).filter(([, rule]) => rule === 'training');
  assert.ok(training.every(([op]) => /grad|loss|entropy|dropout|channel_sum|^batch_norm$/.test(op)));
});

const day = 86_400_000;
const at = (text: string): number => Date.parse(text);
const columns: Preprocessing = {
  version: 1,
  features: [
    { kind: 'number', column: 'x', missing: [], impute: 30, mean: 31.5, deviation: 12.25, indicator: true },
    { kind: 'boolean', column: 'member', missing: ['no'], impute: 1, indicator: true },
    { kind: 'one_hot', column: 'city', missing: [], categories: ['Köln', '3', 'a, b', 'a,  b'], indicator: true },
    { kind: 'one_hot', column: 'label', missing: [], categories: ['u', 'v'], indicator: false },
    { kind: 'embedding', column: 'code', missing: [], categories: ['a', 'b', 'c', 'd'], dimensions: 3 },
    {
      kind: 'datetime',
      column: 'when',
      missing: [],
      impute: at('1999-12-31'),
      mean: 1e12,
      deviation: 3e11,
      parts: ['month', 'weekday', 'hour'],
      indicator: true,
    },
  ],
  target: { kind: 'classes', column: 't', missing: [], classes },
  leftOut: [],
};

const waves: readonly LayerSpec[] = [
  { type: 'robust_scale' },
  { type: 'number_embedding', frequencies: 3 },
  { type: 'scale' },
];
const tableModels: readonly (readonly LayerSpec[])[] = [
  [{ type: 'dense', units: 16, activation: 'tanh' }, { type: 'output' }],
  [...waves, { type: 'dense', units: 9, activation: 'mish', parametrisation: 'ntk' }, { type: 'output' }],
  [
    ...waves,
    { type: 'members', members: 3 },
    { type: 'member_dense', units: 7, activation: 'selu' },
    { type: 'dropout' },
    { type: 'output' },
  ],
  [
    { type: 'dense', units: 8, activation: 'mish', parametrisation: 'ntk' },
    { type: 'members', members: 2, sees: 'part' },
    { type: 'member_dense', units: 5, weights: 'own', parametrisation: 'ntk' },
    { type: 'output', parametrisation: 'ntk' },
  ],
];

test('columns become what our own preprocessing makes of them: dates of all kinds, missing values, texts nobody has seen, spaces around texts', async () => {
  const input = inputSpec(columns) as Extract<InputSpec, { kind: 'table' }>;
  const times = [
    '1904-02-29',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01',
    '2000-02-29T12:34:56Z',
    '2100-03-01',
    '2024-12-31',
  ];
  const days = Array.from({ length: 800 }, (_, i) => Math.round((i - 300) * 37.13 * day));
  const when = [...times.map(at), ...days, NaN];
  const N = when.length;
  const cells = {
    x: Float64Array.from({ length: N }, (_, i) => [1.25, NaN, Infinity, -7, 1e151, 123456789.123][i % 6]),
    member: Array.from({ length: N }, (_, i) => ['yes', 'TRUE', 'no', 'False ', '', ' 0', 'what'][i % 7]),
    city: Array.from(
      { length: N },
      (_, i) => ['Köln', '  3', '3.0 ', 'a, b', '', 'Rom', 'a,  b', 'a, b c', ' Köln '][i % 9],
    ),
    label: Array.from({ length: N }, (_, i) => ['u', 'v  ', '   '][i % 3]),
    code: Array.from({ length: N }, (_, i) => ['a', ' d', '', 'z'][i % 4]),
    when: Float64Array.from(when),
  };
  const raw = [
    Array.from(cells.x, (value) => (Math.abs(value) < 1e150 ? value : null)),
    cells.member.map((word) => ({ yes: 1, TRUE: 1, False: 0, 0: 0 })[word.trim()] ?? null),
    cells.city.map((word) => ({ Köln: 1, 3: 2, '3.0': 2, 'a, b': 3, 'a,  b': 4 })[word.trim()] ?? 0),
    cells.label.map((word) => ({ u: 1, v: 2 })[word.trim()] ?? 0),
    cells.code.map((word) => ({ a: 1, d: 4 })[word.trim()] ?? 0),
    when.map((time) => (Number.isNaN(time) ? null : time)),
  ];
  const rows = new Float32Array(N * input.width);
  new RowEncoder(columns).encode(raw.map((values) => ({ getItem: (row: number) => values[row] })) as never, N, rows);
  for (const model of tableModels) {
    const file = fileOf(model, input);
    for (const { type } of file.model.layers) layersUsed.add(type);
    const weights = randomWeights(file);
    const { bytes, answers } = exportOnnx({ name: 'columns', file, weights, preprocessing: columns });
    assert.deepEqual(
      answers,
      { answer: 'label_', probabilities: 'probabilities' },
      'a column has the name of the output',
    );
    const texts = (values: readonly string[]): Tensor => new Tensor('string', [...values], [N, 1]);
    const found = await runModel(bytes, {
      x: new Tensor('float64', cells.x, [N, 1]),
      member: texts(cells.member),
      city: texts(cells.city),
      label: texts(cells.label),
      code: texts(cells.code),
      when: new Tensor('float64', cells.when, [N, 1]),
    });
    const shard = { rows: N, x: rows, y: new Float32Array(N) };
    const data = {
      ...pictures.data,
      input,
      width: input.width,
      counts: { train: 0, validation: 0, test: N },
      shardStarts: [0, N],
      normalization: undefined,
    };
    const backend = async () => createReferenceBackend();
    const { outputs } = await network
      .read(file, weights)
      .outputs({ data, readShard: () => Promise.resolve(shard), dataBudget: 1e9, backend });
    const differences = relativeDifferences(answersOf(outputs), {
      values: found.probabilities as Float32Array,
      labels: null,
    });
    assert.ok(
      Math.max(...differences) < 1e-6,
      `${Math.max(...differences)} in row ${differences.indexOf(Math.max(...differences))}`,
    );
  }
  assert.deepEqual(
    [...layers.keys()].filter((type) => !layersUsed.has(type)),
    [],
    'layers that no export was tried of',
  );
});

test('a certificate passes what agrees and fails what differs, in a value or in a label', () => {
  const expected: Answers = {
    rows: 2,
    probabilities: Float64Array.of(0.7, 0.2, 0.1, 0.3, 0.3, 0.4),
    labels: ['a', 'c'],
    values: null,
    scale: 1,
  };
  const check = { expected, split: 'test', sources: [4, 9], inputs: [], outputs: [], opset: 20 } as const;
  const found = (values: readonly number[], labels: readonly string[]) => certify(check, { values, labels }, 'r');
  const right = [0.7, 0.2, 0.1, 0.3, 0.3, 0.4];
  assert.equal(found(right, ['a', 'c']).passed, true);
  assert.deepEqual([found(right, ['a', 'b']).passed, found(right, ['a', 'b']).worst], [false, 1]);
  const off = found([0.7, 0.2, 0.1, 0.3, 0.3 + 0.4 * 2 * allowedDifference, 0.4], ['a', 'c']);
  assert.deepEqual([off.passed, off.worst, off.labelsEqual], [false, 1, 2]);
  assert.equal(found([NaN, 0.2, 0.1, 0.3, 0.3, 0.4], ['a', 'c']).largest, Infinity);
  assert.equal(
    certify({ ...check, expected: { ...expected, rows: 0, labels: [] } }, { values: [], labels: [] }, 'r').passed,
    false,
  );
  const numbers: Answers = { rows: 2, probabilities: null, labels: null, values: Float64Array.of(0, 1000), scale: 10 };
  assert.deepEqual(
    relativeDifferences(numbers, { values: [1e-4, 1000.001], labels: null }).map((d) => Number(d.toPrecision(3))),
    [1e-5, 1e-6],
  );
});
