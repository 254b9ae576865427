// The arguments of layers are tables of settings: what they were before stays what models of earlier versions mean by it, what is
// wrong with one is said with the layer and its limits, and a layer's functions are given them as its table types them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readModelFile } from '../../engine/learners/model-file.ts';
import { isNetworkFile } from '../../engine/learners/network/file.ts';
import { defineLayer, layerFields } from '../../engine/model/layer.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { layers as registry } from '../../engine/model/registry.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { InputSpec, LayerSpec } from '../../engine/model/spec.ts';
import type { Field } from '../../engine/settings/field.ts';
import { completed, shownFields } from '../../engine/settings/values.ts';

const picture: InputSpec = { kind: 'image', channels: 4, height: 8, width: 8 };
const resolve = (...layers: readonly LayerSpec[]) =>
  resolveModel({ version: 1, layers: [...layers, { type: 'flatten' }, { type: 'output' }] }, picture, 2);

const convolution = ['filters 32 of 1..4096 whole', 'kernel 3 of 1..31 whole'];
const spread = ['padding 1 of 0..40 whole', 'dilation 1 of 1..8 whole', 'groups 1 of 1..4096 whole'];
const ending = ['activation none', 'slope 0.01 of 0..1', 'bias true'];
const pooling = ['size 2 of 1..64 whole', 'stride 2 of 1..64 whole', 'padding 0 of 0..32 whole'];
const epsilon = 'epsilon 0.00001 of 1e-12..1';
const side = 'of 1..65536 whole';

/** Names, defaults and limits since the first version: a model file leaves out what is as usual. */
const everSince: Readonly<Record<string, readonly string[]>> = {
  dense: [`units 64 ${side}`, 'activation relu', 'slope 0.01 of 0..1', 'bias true', 'parametrisation standard'],
  conv2d: [...convolution, 'stride 1 of 1..8 whole', ...spread, ...ending],
  conv_transpose2d: [
    ...[...convolution, 'stride 2 of 1..8 whole', ...spread],
    ...['outputPadding 1 of 0..7 whole', ...ending],
  ],
  max_pool: pooling,
  average_pool: pooling,
  global_average_pool: [],
  upsample: ['factor 2 of 1..8 whole'],
  activation: ['activation relu', 'slope 0.01 of 0..1'],
  dropout: ['rate 0.2 of 0..0.95'],
  dropout2d: ['rate 0.1 of 0..0.95'],
  batch_norm: [epsilon, 'momentum 0.1 of 0.0001..1'],
  layer_norm: [epsilon],
  group_norm: ['groups 8 of 1..4096 whole', epsilon],
  add: [],
  concat: [],
  flatten: [],
  reshape: [`channels 1 ${side}`, `height 8 ${side}`, `width 8 ${side}`],
  output: ['parametrisation standard'],
};

function told(name: string, field: Field): string {
  const usual = field.default === 1e-5 ? '0.00001' : String(field.default);
  if (field.kind !== 'number') return `${name} ${usual}`;
  return `${name} ${usual} of ${field.minimum}..${field.maximum}${field.whole ? ' whole' : ''}`;
}

test('what a model of an earlier version leaves out means what it did', () => {
  for (const [type, fields] of Object.entries(everSince)) {
    const now = Object.entries(registry.get(type)!.fields).map(([name, field]) => told(name, field));
    assert.deepEqual(now, fields, type);
  }
  const names = ['none', 'relu', 'leaky_relu', 'gelu', 'silu', 'tanh', 'sigmoid', 'mish', 'selu', 'relu6', 'gelu_tanh'];
  for (const type of Object.keys(everSince)) {
    for (const [name, field] of Object.entries(registry.get(type)!.fields)) {
      if (field.kind === 'choice' && name === 'activation') assert.deepEqual(Object.keys(field.choices), names);
    }
  }
});

test('a model file of an earlier version reads as before', () => {
  const layers = [
    { type: 'conv2d', id: 'c', filters: 6, kernel: 5, padding: 2, activation: 'leaky_relu', slope: 0.2, bias: false },
    { type: 'max_pool' },
    { type: 'group_norm', groups: 3 },
    { type: 'dropout2d', rate: 0.25 },
    { type: 'flatten' },
    { type: 'output' },
  ];
  const training = defaultTraining(100, 'classification', picture);
  // Networks did not name their learner.
  const output = { kind: 'classes', classes: ['a', 'b'] };
  const text = JSON.stringify({
    task: 'classification',
    output,
    input: picture,
    model: { version: 1, layers },
    training,
  });
  const file = readModelFile(text, 1);
  assert.ok(isNetworkFile(file));
  const model = resolveModel(file.model, picture, 2);
  assert.deepEqual(
    model.layers.map(({ args }) => args),
    [
      {
        filters: 6,
        kernel: 5,
        stride: 1,
        padding: 2,
        dilation: 1,
        groups: 1,
        activation: 'leaky_relu',
        slope: 0.2,
        bias: false,
      },
      { size: 2, stride: 2, padding: 0 },
      { groups: 3, epsilon: 1e-5 },
      { rate: 0.25 },
      {},
      { parametrisation: 'standard' },
    ],
  );
  assert.deepEqual(
    model.parameters.map(({ name, shape }) => `${name} ${shape.join('×')}`),
    ['c.weight 6×4×5×5', '2.weight 6', '2.bias 6', '5.weight 96×2', '5.bias 2'],
  );
});

test('what is wrong with an argument is said with the layer, what it is and its limits', () => {
  const wrong = (layer: LayerSpec, message: string, hint: string): void =>
    assert.throws(() => resolve({ type: 'upsample' }, layer), {
      message: `Layer 2 (${layer.type}): ${message}`,
      hint,
      layer: 1,
    });
  wrong({ type: 'dense', units: 1.5 }, 'Dense: Units is 1.5.', 'It has to be a whole number from 1 to 65536.');
  wrong({ type: 'dense', units: '64' }, 'Dense: Units is "64".', 'It has to be a whole number from 1 to 65536.');
  wrong({ type: 'dense', units: null }, 'Dense: Units is null.', 'It has to be a whole number from 1 to 65536.');
  wrong({ type: 'dropout', rate: 1 }, 'Dropout: Rate is 1.', 'It has to be a number from 0 to 0.95.');
  wrong({ type: 'conv2d', bias: 1 }, 'Conv 2D: Bias is 1.', 'It has to be true or false.');
  wrong(
    { type: 'activation', activation: 'constructor' },
    'Activation: Activation is "constructor".',
    'It has to be one of none, relu, leaky_relu, gelu, silu, tanh, sigmoid, mish, selu, relu6, gelu_tanh.',
  );
  wrong({ type: 'max_pool', sise: 2 }, 'Max pool has no argument “sise”.', 'Its arguments: size, stride, padding.');
  wrong({ type: 'add', toString: 1 }, 'Add has no argument “toString”.', 'Its arguments: none.');
});

test('the form shows the arguments that have an effect', () => {
  const { fields } = registry.get('dense')!;
  const shown = (layer: object): readonly string[] =>
    shownFields(fields, completed(fields, layer), undefined).map(([name]) => name);
  assert.deepEqual(shown({}), ['units', 'activation', 'bias', 'parametrisation']);
  assert.deepEqual(shown({ activation: 'leaky_relu' }), ['units', 'activation', 'slope', 'bias', 'parametrisation']);
});

test('the functions of a layer are given the arguments as their table types them', () => {
  const fields = layerFields({
    way: { kind: 'choice', label: 'Way', help: '', choices: { up: 'Up', down: 'Down' }, default: 'up' },
    times: { kind: 'number', label: 'Times', help: '', minimum: 1, maximum: 9, default: 2 },
  });
  const layer = defineLayer({
    ...{ type: 'lift', title: 'Lift', summary: '', group: 'shape', fields },
    // @ts-expect-error: there is no such way.
    shape: ([input], { way, times }) => (way === 'left' ? input : [input[0] * times]),
    // @ts-expect-error: there is no such argument.
    flops: (_, output, { often }) => output[0] * Number(often),
    build: (_, [x]) => x,
  });
  assert.deepEqual(
    layer.shape(
      [[3]],
      { way: 'up', times: 2 },
      { outputs: 1, numbers: [], onColumns: true, texts: [], positions: null },
    ),
    [6],
  );
});
