// What leaves beside ONNX, read back by other means: every layer has its line of PyTorch, event files keep their checksums, a report needs
// nothing but itself.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createExporter } from '../../engine/export/exporter.ts';
import { chart } from '../../engine/export/html/chart.ts';
import { crc32c } from '../../engine/export/logs/tensorboard.ts';
import { readBack } from '../../engine/export/reading/read-back.ts';
import { torchLayers } from '../../engine/export/torch/layers.ts';
import { modelSource } from '../../engine/export/torch/model.ts';
import { npy } from '../../engine/export/torch/npy.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import { readModelFile } from '../../engine/learners/model-file.ts';
import { layers } from '../../engine/model/registry.ts';
import { cifarResnet, visionTransformer } from '../../engine/model/image-presets.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { LayerSpec } from '../../engine/model/spec.ts';
import { exportWords, type ExportFormat } from '../../engine/protocol/exports.ts';
import type { ModelFile } from '../../engine/protocol/model-file.ts';
import type { MetricPoint, RunRecord } from '../../engine/protocol/runs.ts';
import { decodeSafetensors, encodeSafetensors, encodeText } from '../../engine/train/safetensors.ts';

const input = { kind: 'image', channels: 3, height: 8, width: 8 } as const;
const output = { kind: 'classes', classes: ['<b>', 'dog'] } as const;
const model = cifarResnet(8, 'tiny');
const training = defaultTraining(100, 'classification', input, model);
const { parameters, states } = resolveModel(model, input, 2);
const tensors = [...parameters, ...states].map(({ name, shape }) => {
  const length = shape.reduce((product, size) => product * size, 1);
  return [name, { shape, data: Float32Array.from({ length }, (_, i) => Math.fround(i / 7)) }] as const;
});
const points: MetricPoint[] = ['train_loss', 'val_loss', 'val_accuracy'].flatMap((series, s) =>
  Array.from({ length: 30 }, (_, i) => ({
    series,
    step: 10 * i + 300,
    epoch: i,
    seconds: i / 2,
    value: 1 / (i + s + 1),
  })),
);
const record = {
  id: 3,
  name: 'birds & <script>alert(1)</script>',
  state: 'completed',
  datasetName: 'birds',
  data: {
    counts: { train: 80, validation: 10, test: 10 },
    leftOut: [{ column: 'ring', reason: 'identifier' }],
    givenSplits: [],
  },
  parameters: 1234,
  device: 'cpu',
  threads: 2,
  createdAt: 1_700_000_000_000,
  startedAt: 1_700_000_001_000,
  endedAt: 1_700_000_101_000,
  notes: 'a note',
  config: { dataset: 'd', settings: {}, learner: 'network', model, training, seed: 1, device: 'cpu', threads: 0 },
  result: { metrics: { val_loss: 0.25, val_accuracy: 0.875 }, steps: 300 },
} as unknown as RunRecord;

const none = (): never => assert.fail('no rows are needed');
const exporter = createExporter({ readShard: none, rawRows: none, backend: none, dataBudget: 0 });

const source = {
  record,
  model: JSON.stringify({ learner: 'network', model, training, input, output, task: 'classification' }),
  preprocessing: '{}',
  weights: encodeSafetensors({ tensors: Object.fromEntries(tensors), metadata: {} }),
  points,
  log: [{ time: 1, level: 'info', message: 'It <began>.' }] as const,
};
const draft = (format: ExportFormat) => exporter.make({ format, name: 'birds', source, data: null });

async function made(format: ExportFormat): Promise<ReadonlyMap<string, Uint8Array>> {
  return new Map((await draft(format)).files.map(({ path, data }) => [path, data]));
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

test('every layer has its line of PyTorch', () => {
  assert.deepEqual(
    [...layers.keys()].filter((type) => !Object.hasOwn(torchLayers, type)),
    [],
  );
});

test('a module of PyTorch has the functions it calls, be its sequence patches of a picture or numbers', () => {
  const file = JSON.parse(source.model) as ModelFile;
  const numbers = { kind: 'table', width: 8, numeric: 8, embeddings: [] } as const;
  const reading: readonly (readonly LayerSpec[])[] = [
    [{ type: 'attention', heads: 1 }, { type: 'flatten' }],
    [{ type: 'lstm', units: 3 }, { type: 'flatten' }],
    [{ type: 'conv1d', filters: 3 }, { type: 'flatten' }],
    [{ type: 'pool_positions', pool: 'attention' }],
    [{ type: 'pool_positions', pool: 'mean' }],
  ];
  const begin = { type: 'sequence', length: 4 };
  for (const [from, layers] of [
    [input, visionTransformer(input).layers],
    ...reading.map((middle) => [numbers, [begin, ...middle, { type: 'output' }]] as const),
  ] as const) {
    const python = modelSource({ ...file, input: from, model: { version: 1, layers } } as ModelFile);
    assert.equal(python.split('def real(').length, 2, python);
    assert.doesNotMatch(python, /tokens_of/);
  }
});

test('weights leave under names that are modules, beside a module that has them', async () => {
  const files = await made('safetensors');
  assert.deepEqual([...files.keys()], ['birds.safetensors', 'birds.model.py']);
  const { tensors: left } = decodeSafetensors(files.get('birds.safetensors')!);
  assert.equal(Object.keys(left).length, tensors.length);
  const source = text(files.get('birds.model.py'));
  for (const name of Object.keys(left)) {
    const [module, ...rest] = name.split('.');
    assert.equal(rest.length, 1, name);
    assert.ok(source.includes(`self.add_module("${module}"`), module);
  }
  assert.deepEqual(left['s2b1_short_conv.weight'].shape, [32, 16, 1, 1]);
});

test('an event file has every value in order, and checksums that hold', async () => {
  assert.equal(crc32c(encodeText('123456789')), 0xe3069283);
  const [[path, file]] = [...(await made('tensorboard'))];
  assert.match(path, /^events\.out\.tfevents\.1700000001\.birds$/);
  const view = new DataView(file.buffer);
  const unmasked = (at: number): number => {
    const turned = (view.getUint32(at, true) - 0xa282ead8) >>> 0;
    return ((turned << 15) | (turned >>> 17)) >>> 0;
  };
  let records = 0;
  let at = 0;
  for (; at < file.length; records++) {
    const length = Number(view.getBigUint64(at, true));
    assert.equal(unmasked(at + 8), crc32c(file.subarray(at, at + 8)));
    const data = file.subarray(at + 12, at + 12 + length);
    assert.equal(unmasked(at + 12 + length), crc32c(data));
    if (records === 0) assert.match(text(data), /brain\.Event:2$/);
    else {
      const { series, value } = points[records - 1];
      assert.ok(text(data).includes(series));
      assert.equal(new DataView(data.buffer, data.byteOffset).getFloat32(data.length - 4, true), Math.fround(value));
    }
    at += 16 + length;
  }
  assert.deepEqual([records, at], [points.length + 1, file.length]);
});

test('a folder for MLflow has a file a setting, a metric and a tag', async () => {
  const files = await made('mlflow');
  const run = [...files.keys()].find((path) => path.endsWith('/params/learner'))?.replace('/params/learner', '') ?? '';
  assert.match(run, /^1\/[0-9a-f]{32}$/);
  assert.equal(text(files.get(`${run}/params/training.batch`)), String(training.batch));
  assert.equal(text(files.get(`${run}/tags/mlflow.runName`)), record.name);
  const lines = text(files.get(`${run}/metrics/val_loss`))
    .trim()
    .split('\n');
  assert.deepEqual([lines.length, lines[1]], [30, '1700000001500 0.3333333333333333 310']);
  assert.match(text(files.get(`${run}/meta.yaml`)), /^run_id: "[0-9a-f]{32}"$/m);
  assert.match(text(files.get('1/meta.yaml')), /^name: "birds"$/m);
  assert.ok(files.has(`${run}/artifacts/model/birds.safetensors`));
});

test('a report is one page that asks nobody for anything', async () => {
  const page = text((await made('html')).get('birds.html'));
  assert.doesNotMatch(page, /<script|<link|<img|https?:|url\(/i);
  assert.match(page, /birds &#38; &#60;script&#62;/);
  assert.equal(page.match(/<figure>/g)?.length, 2, 'loss and accuracy');
  assert.equal(page.match(/<polyline/g)?.length, 3);
  assert.match(page, /<th scope="row">accuracy<\/th><td class="n">–<\/td><td class="n">0\.875</);
  assert.ok(page.includes(`<th scope="row">Batch size</th><td>${training.batch}</td>`), page);
  assert.match(page, /<th scope="row">Split<\/th><td>80 train \/ 10 validation \/ 10 test</);
  assert.match(page, /<th scope="row">Left out<\/th><td>ring/);
  assert.match(page, /<th scope="row">Layer 1<\/th><td>[A-Z][^{}]+<\/td>/);
  assert.doesNotMatch(page, /&#34;type&#34;|"type"/, 'layers in words');
  assert.match(page, /It &#60;began&#62;\./);
});

test('arrays are numpy’s, and formats say what they hold', () => {
  const file = npy(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]);
  const header = file[8] + 256 * file[9];
  assert.equal((10 + header) % 64, 0);
  assert.match(
    text(file.subarray(10, 10 + header)),
    /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 3\), \} *\n$/,
  );
  assert.deepEqual([...new Float32Array(file.slice(10 + header).buffer)], [1, 2, 3, 4, 5, 6]);
  assert.ok(Object.values(exportWords).every(({ title, holds }) => title.length > 0 && holds.length < 60));
});

test('a long curve of the page keeps its spikes: none of 5,000 points stands between two that are drawn', () => {
  const points = Array.from({ length: 5000 }, (_, x) => [x, x === 3001 ? 9 : x === 1777 ? -9 : 0] as const);
  const drawn = chart('Loss', [{ name: 'one', colour: 'red', dash: '', points }], 'epoch');
  const heights = /polyline points="([^"]*)"/
    .exec(drawn)![1]
    .split(' ')
    .map((point) => Number(point.split(',')[1]));
  assert.ok(heights.length <= 400, `${heights.length} points`);
  const [low, high] = [Math.max(...heights), Math.min(...heights)];
  assert.deepEqual([heights.filter((y) => y === low).length, heights.filter((y) => y === high).length], [1, 1]);
  assert.ok(low - high > 200, 'the two spikes span the whole chart');
});

const run = { ...source, file: readModelFile(source.model, 3), tensors: Object.fromEntries(tensors), recipe: {} };

/** Text of a file exchanged: what a maker or a disk could get wrong. */
const exchanged = (from: string, to: string) => (bytes: Uint8Array) => {
  assert.ok(text(bytes).includes(from), from);
  return encodeText(text(bytes).replace(from, to));
};
const bitFlipped =
  (fromEnd: number) =>
  (bytes: Uint8Array): Uint8Array => {
    const other = bytes.slice();
    other[other.length - fromEnd] ^= 1;
    return other;
  };

const proofs = [
  {
    format: 'safetensors',
    says: /tensors \([\d,]+ values\) equal to the run's weights bit for bit; .*; model\.py has a module for each/,
    damages: [
      { file: /safetensors$/, damage: bitFlipped(4), told: /the values of .* are others/ },
      {
        file: /model\.py$/,
        damage: exchanged('add_module("s2b1_short_conv"', 'add_module("other"'),
        told: /has no module/,
      },
    ],
  },
  {
    format: 'tensorboard',
    says: /91 records with checksums that hold; 90 values equal/,
    damages: [{ file: /tfevents/, damage: bitFlipped(9), told: /checksum of record 91/ }],
  },
  {
    format: 'mlflow',
    says: /92 metric values equal .*; \d+ settings equal; .* bit for bit/,
    damages: [
      { file: /metrics\/val_loss$/, damage: exchanged(' 0.5 ', ' 0.6 '), told: /value 1 of val_loss is 0\.6/ },
      { file: /params\/learner$/, damage: exchanged('network', 'linear'), told: /the setting learner is another/ },
      { file: /safetensors$/, damage: bitFlipped(1), told: /the values of .* are others/ },
    ],
  },
  {
    format: 'html',
    says: /no reference to anything outside it, no script; 2 scores, \d+ settings and 3 curves equal/,
    damages: [
      { file: /html$/, damage: exchanged('<h2>Log', '<img src="https://a.b/c"><h2>Log'), told: /an element img/ },
      { file: /html$/, damage: exchanged('<table>', '<table background="//a.b">'), told: /an attribute background/ },
      { file: /html$/, damage: exchanged('<style>', '<style>@import "//a.b";'), told: /styles .* name an address/ },
      { file: /html$/, damage: exchanged('>0.875<', '>0.876<'), told: /its val accuracy is not 0\.875/ },
    ],
  },
  {
    format: 'json',
    says: /that its schema and that of the model accept; settings, preprocessing and \d+ tensors equal/,
    damages: [
      { file: /json$/, damage: exchanged('"values":[0,', '"values":[1,'), told: /the values of .* are others/ },
      { file: /json$/, damage: exchanged('"task":"classification"', '"task":"guessing"'), told: /task/ },
    ],
  },
] as const;

for (const { format, says, damages } of proofs) {
  test(`${format} is read back, and refused where it holds something else`, async () => {
    const { files, proven } = await draft(format);
    assert.match(proven.join('; '), says);
    for (const { file, damage, told } of damages) {
      const index = files.findIndex(({ path }) => file.test(path));
      const other = files.map((one, at) => (at === index ? { ...one, data: damage(one.data) } : one));
      assert.throws(() => readBack(format, other, run), told);
    }
  });
}
