// The PyTorch project of a run that comes from another one: it begins with what the run began with, and what is frozen stays so.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createExporter } from '../../engine/export/exporter.ts';
import type { LayerSpec, ModelSpec } from '../../engine/model/spec.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../engine/train/safetensors.ts';
import { makeTable } from '../support/table.ts';

const { data, readShard } = makeTable({
  rows: 40,
  numeric: 3,
  classes: 3,
  embeddings: [{ vocabulary: 4, dimensions: 2 }],
});
const { counts } = data;
const model: ModelSpec = {
  version: 1,
  layers: [
    { type: 'dense', units: 4 },
    { type: 'dropout', rate: 0.5 },
    { type: 'dropout', rate: 0.25 },
    { type: 'dense', units: 5 },
    { type: 'output' },
  ],
};
const shapes = {
  'input.embedding0': [4, 2],
  ...{ '0.weight': [5, 4], '0.bias': [4], '3.weight': [4, 5], '3.bias': [5], '4.weight': [5, 3], '4.bias': [3] },
};
const filled = (value: number): Record<string, SafeTensor> =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const length = shape.reduce((product, size) => product * size, 1);
      return [name, { shape, data: new Float32Array(length).fill(value) }];
    }),
  );
const bytes = (tensors: Record<string, SafeTensor>): Uint8Array => encodeSafetensors({ tensors, metadata: {} });
const points = Array.from({ length: 20 }, (_, i) => ({
  ...{ series: 'step_loss', step: i + 1, epoch: i, seconds: i, value: 1 / (i + 1) },
}));

interface From {
  readonly relation: 'started from' | 'continued' | null;
  readonly frozen?: number;
  readonly upTo?: number;
  readonly start?: Uint8Array | null;
  /** A norm instead of the first dropout. */
  readonly norm?: 'rms_norm' | 'batch_norm';
  readonly batch?: number;
  readonly format?: 'pytorch' | 'pytorch-ddp';
  /** Layers other than those above, and what they have learned. */
  readonly other?: { readonly layers: readonly LayerSpec[]; readonly weights: Record<string, SafeTensor> };
}

async function project({ relation, frozen = 0, upTo, start, norm, batch, format = 'pytorch', other }: From) {
  const usual = defaultTraining(40, 'classification');
  const training = { ...usual, seed: 1, frozenLayers: frozen, batch: batch ?? usual.batch };
  const layers = other?.layers ?? model.layers.map((layer, at) => (norm && at === 1 ? { type: norm } : layer));
  const ofNorm = norm === 'batch_norm' ? ['weight', 'bias', 'running_mean', 'running_var'] : norm ? ['weight'] : [];
  const four = { shape: [4], data: new Float32Array(4) };
  const weights = other?.weights ?? { ...filled(7), ...Object.fromEntries(ofNorm.map((name) => [`1.${name}`, four])) };
  const file = {
    learner: 'network',
    model: { ...model, layers },
    training,
    input: data.input,
    output: data.output,
    task: 'classification',
  };
  const record = {
    ...{ id: 9, name: 'head', parent: relation && 4, relation, start: relation && { upTo }, createdAt: 0 },
    ...{ config: { learner: 'network' }, result: null },
  } as unknown as RunRecord;
  const none = (): never => assert.fail('nothing else is needed');
  const exporter = createExporter({
    readShard: (_, shard) => readShard(shard),
    rawRows: none,
    backend: none,
    dataBudget: 0,
  });
  const { files, proven } = await exporter.make({
    format,
    name: 'head',
    source: {
      record,
      model: JSON.stringify(file),
      preprocessing: '{}',
      weights: bytes(weights),
      points,
      log: [],
      start,
    },
    data,
  });
  const of = (path: string): Uint8Array => files.find((one) => one.path === path)!.data;
  const text = (path: string): string => new TextDecoder().decode(of(path));
  const { tensors: first, metadata } = decodeSafetensors(of('initial.safetensors'));
  const values = Object.fromEntries(
    Object.entries(first).map(
      ([
        name,
        {
          data: [value],
        },
      ]) => [name, value === 7 || value === 2 ? value : 'drawn'],
    ),
  );
  return {
    values,
    first,
    text,
    metadata,
    proven: proven.join('; '),
    config: JSON.parse(text('config.json')) as { frozen: string[]; firstLosses: number[] },
  };
}

test('a run of its own begins with what its seed draws', async () => {
  const { values, config, text, proven } = await project({ relation: null, batch: 2 });
  assert.match(proven, /^11 files there and whole, 40 rows .* bit for bit; model\.py has a module for each of 4$/);
  assert.deepEqual([...new Set(Object.values(values))], ['drawn']);
  assert.deepEqual([config.frozen, config.firstLosses.length], [[], 10]);
  assert.equal(text('model.py').match(/self\.training\)/g)?.length, 2);
});

test('one that started from another begins with its weights, as far as it took them, and keeps what is frozen', async () => {
  const start = bytes(filled(2));
  const { values, config, text } = await project({ relation: 'started from', frozen: 2, upTo: 4, start });
  const { 'input.embedding0': table, '0.weight': one, '3.weight': two, '4.weight': head } = values;
  assert.deepEqual([table, one, two, head], [2, 2, 2, 'drawn']);
  assert.deepEqual(
    [config.frozen, config.firstLosses.length],
    [['input', '0'], 1],
    'modules that have weights; an epoch is one step here',
  );
  assert.match(text('model.py'), /F\.dropout\(\w+, 0\.5, False\)/, 'a frozen dropout lets everything through');
  assert.match(text('model.py'), /F\.dropout\(\w+, 0\.25, self\.training\)/);
  await assert.rejects(
    project({ relation: 'started from', start: null }),
    /What this run took over from run 4 is gone from its folder: it cannot be trained again/,
  );
});

test('places that are turned by a fixed table are turned by it from the first step on', async () => {
  const layers = [
    { type: 'dense', units: 4 },
    { type: 'sequence', length: 2 },
    { type: 'attention', heads: 1, rotary: true },
    { type: 'pool_positions' },
    { type: 'output' },
  ];
  const turned = { shape: [2, 2], data: Float32Array.of(1, 0, Math.cos(1), Math.sin(1)) };
  const of = (shape: readonly number[]): SafeTensor => ({
    shape,
    data: new Float32Array(shape.reduce((product, size) => product * size, 1)),
  });
  const weights = {
    'input.embedding0': of([4, 2]),
    ...{ '0.weight': of([5, 4]), '0.bias': of([4]) },
    ...{ '2.in_weight': of([2, 6]), '2.in_bias': of([6]), '2.out_weight': of([2, 2]), '2.out_bias': of([2]) },
    '2.angles': turned,
    ...{ '4.weight': of([2, 3]), '4.bias': of([3]) },
  };
  const { first } = await project({
    relation: null,
    other: { layers, weights },
  });
  assert.deepEqual(first['2.angles'], turned);
});

test('one that goes on says that its first steps were another’s', async () => {
  const { values, config, text } = await project({ relation: 'continued', frozen: 1 });
  assert.deepEqual([values['input.embedding0'], values['0.weight'], values['3.weight']], [7, 7, 'drawn']);
  assert.deepEqual(config.firstLosses, []);
  assert.match(text('README.md'), /goes on from run 4, whose settings may have been others/);
  assert.doesNotMatch(text('README.md'), /the same first weights|the weights the run began with/);
});

test('a project asks for the PyTorch that has its modules', async () => {
  const asked = async (norm?: 'rms_norm'): Promise<string> =>
    (await project({ relation: null, norm })).text('requirements.txt').split('\n')[0];
  assert.deepEqual([await asked(), await asked('rms_norm')], ['torch>=2.1', 'torch>=2.4']);
});

test('a row that batch norm leaves out of each epoch is none of the order, in shards as in one file', async () => {
  const left = { relation: null, norm: 'batch_norm', batch: counts.train - 1 } as const;
  for (const format of ['pytorch', 'pytorch-ddp'] as const) {
    const { text, proven } = await project({ ...left, format });
    assert.match(text('config.json'), new RegExp(`"rowsOfEpoch": ${counts.train - 1}`));
    assert.match(
      proven,
      format === 'pytorch' ? /^11 files there and whole, 40 rows/ : /^18 files there and whole, 40 rows/,
    );
  }
});

test('what a project for a cluster brings back says of which run it is', async () => {
  const { metadata } = await project({ relation: null, format: 'pytorch-ddp' });
  assert.deepEqual(Object.keys(metadata), ['format', 'trainyard.model', 'trainyard.preprocessing', 'trainyard.run']);
  assert.match(metadata['trainyard.run'], /^\{"run":9,"createdAt":0,"name":"head",/);
});
