// Gradients of every layer and loss, by central differences in float64: the analytic gradient of each parameter has to
// agree with (loss(p + h) − loss(p − h)) / 2h. A layer under test stands between dense layers, so that the gradient of
// its input is checked too (it is what reaches the layers before it).

import assert from 'node:assert/strict';
import test from 'node:test';
import { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';
import { sizeOf } from '../../engine/graph/op.ts';
import { ops } from '../../engine/graph/ops.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { layers } from '../../engine/model/registry.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import type { LayerSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { noAugmentation } from '../../engine/settings/augmentation.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { assertGradients } from '../support/central-differences.ts';
import { type ImageOptions, makeImages } from '../support/images.ts';
import { makeTable, type TableOptions } from '../support/table.ts';
import { sequenceCases } from './sequences.ts';

interface Case {
  readonly name: string;
  readonly layers: readonly LayerSpec[];
  readonly table?: Partial<TableOptions>;
  /** The model's input is images instead of a table. */
  readonly images?: Partial<ImageOptions>;
  readonly training?: Partial<TrainingSpec>;
}

const smooth = { type: 'dense', units: 5, activation: 'tanh' };
const output = { type: 'output' };
const between = (...tested: LayerSpec[]): readonly LayerSpec[] => [smooth, ...tested, output];
/** Between a convolution and the output, on images of 2 × 6 × 5. */
const onImages = (name: string, ...tested: LayerSpec[]): Case => ({
  name,
  images: {},
  layers: [{ type: 'conv2d', filters: 4, activation: 'tanh' }, ...tested, { type: 'flatten' }, output],
});

const cases: readonly Case[] = [
  ...['relu', 'leaky_relu', 'gelu', 'silu', 'tanh', 'sigmoid', 'mish', 'selu', 'relu6', 'gelu_tanh'].flatMap(
    (activation) => [
      { name: `dense with ${activation}`, layers: between({ type: 'dense', units: 4, activation }) },
      { name: `activation ${activation}`, layers: between({ type: 'activation', activation }) },
    ],
  ),
  { name: 'dense without bias', layers: between({ type: 'dense', units: 3, bias: false, activation: 'none' }) },
  { name: 'dropout', layers: between({ type: 'dropout', rate: 0.4 }) },
  {
    name: 'dropout by a schedule',
    layers: between({ type: 'dropout', rate: 0.5 }),
    training: { schedule: { ...defaultTraining(100, 'regression').schedule, regularisation: 'flat_cosine' } },
  },
  {
    name: 'dense as NTK',
    layers: [
      { ...smooth, parametrisation: 'ntk' },
      { ...output, parametrisation: 'ntk' },
    ],
    training: { clipNorm: 1 },
  },
  {
    name: 'columns robustly scaled, each number in waves, and scaled',
    layers: [
      { type: 'robust_scale' },
      { type: 'number_embedding', frequencies: 3, deviation: 1 },
      { type: 'scale' },
      output,
    ],
    table: { numeric: 5, numbers: [0, 2, 3] },
  },
  {
    name: 'waves of all columns',
    layers: [{ type: 'scale' }, { type: 'number_embedding', frequencies: 2, width: 2 }, output],
    table: { embeddings: [{ vocabulary: 4, dimensions: 2 }] },
  },
  {
    name: 'members with numbers',
    layers: [{ type: 'members', members: 3 }, { type: 'member_dense', units: 4, activation: 'tanh' }, output],
  },
  {
    name: 'members with classes and weights',
    layers: [
      { ...smooth },
      { type: 'members', members: 2 },
      { type: 'member_dense', units: 3, activation: 'mish' },
      { type: 'dropout', rate: 0.3 },
      output,
    ],
    table: { classes: 3 },
    training: { classWeights: 'balanced', labelSmoothing: 0.1 },
  },
  {
    name: 'members with weights of their own',
    layers: [
      { ...smooth, units: 6 },
      { type: 'members', members: 2, sees: 'part' },
      { type: 'member_dense', units: 3, activation: 'mish', weights: 'own', parametrisation: 'ntk' },
      { ...output, parametrisation: 'ntk' },
    ],
    table: { classes: 3 },
  },
  { name: 'batch norm', layers: between({ type: 'batch_norm' }, { type: 'activation', activation: 'silu' }) },
  { name: 'layer norm', layers: between({ type: 'layer_norm' }, { type: 'activation', activation: 'tanh' }) },
  { name: 'RMS norm', layers: between({ type: 'rms_norm' }, { type: 'activation', activation: 'tanh' }) },
  { name: 'gated dense', layers: between({ type: 'gated_dense', units: 3, activation: 'gelu' }) },
  {
    name: 'residual add of three',
    layers: [
      { ...smooth, id: 'a' },
      { type: 'dense', units: 5, activation: 'sigmoid', id: 'b' },
      { type: 'add', from: ['a', 'b', 'a'] },
      output,
    ],
  },
  {
    name: 'concat of layers and input',
    layers: [
      { ...smooth, id: 'a' },
      { type: 'dense', units: 2, activation: 'tanh', id: 'b' },
      { type: 'concat', from: ['a', 'input', 'b'] },
      output,
    ],
  },
  { name: 'flatten', layers: between({ type: 'flatten' }) },
  {
    name: 'reshape',
    layers: [
      { type: 'dense', units: 18, activation: 'tanh' },
      { type: 'reshape', channels: 2, height: 3, width: 3 },
      { type: 'conv2d', filters: 2, activation: 'tanh' },
      { type: 'flatten' },
      output,
    ],
  },
  {
    name: 'embeddings and numbers',
    layers: between(),
    table: {
      embeddings: [
        { vocabulary: 5, dimensions: 3 },
        { vocabulary: 7, dimensions: 2 },
      ],
    },
  },
  { name: 'embedding alone', layers: between(), table: { numeric: 0, embeddings: [{ vocabulary: 4, dimensions: 3 }] } },
  { name: 'cross-entropy', layers: between(), table: { classes: 3 } },
  {
    name: 'cross-entropy with weights and smoothing',
    layers: between(),
    table: { classes: 3 },
    training: { classWeights: 'balanced', labelSmoothing: 0.1 },
  },
  {
    name: 'binary cross-entropy',
    layers: between(),
    table: { classes: 2 },
    training: { loss: 'binary_cross_entropy' },
  },
  {
    name: 'binary cross-entropy with weights and smoothing',
    layers: between(),
    table: { classes: 2 },
    training: { loss: 'binary_cross_entropy', classWeights: 'balanced', labelSmoothing: 0.2 },
  },
  onImages('conv 2D', { type: 'conv2d', filters: 3, activation: 'silu' }),
  onImages('conv 2D with a fused activation', { type: 'conv2d', filters: 3, activation: 'sigmoid', bias: false }),
  onImages('conv 2D with stride, dilation, groups', {
    type: 'conv2d',
    filters: 6,
    stride: 2,
    dilation: 2,
    padding: 2,
    groups: 2,
    activation: 'tanh',
  }),
  onImages('depthwise conv 2D', { type: 'conv2d', filters: 4, groups: 4, stride: 2, activation: 'none' }),
  onImages('1 × 1 conv 2D with stride', { type: 'conv2d', filters: 5, kernel: 1, stride: 2, padding: 0 }),
  onImages('transposed conv 2D', { type: 'conv_transpose2d', filters: 3, activation: 'tanh' }),
  onImages('transposed conv 2D in groups', {
    type: 'conv_transpose2d',
    filters: 2,
    kernel: 4,
    stride: 2,
    padding: 1,
    outputPadding: 0,
    groups: 2,
    bias: false,
  }),
  onImages('max pool', { type: 'max_pool' }, { type: 'activation', activation: 'silu' }),
  onImages('max pool that overlaps', { type: 'max_pool', size: 3, stride: 1, padding: 1 }),
  onImages('average pool', { type: 'average_pool', size: 3, stride: 2, padding: 1 }),
  onImages('global average pool', { type: 'global_average_pool' }, { type: 'dense', units: 3, activation: 'tanh' }),
  onImages('upsample', { type: 'upsample' }, { type: 'activation', activation: 'silu' }),
  {
    name: 'patches of a picture with a class token',
    images: {},
    layers: [
      { type: 'patch_embedding', size: 2, dimensions: 4, classToken: true },
      { type: 'position_embedding', deviation: 1 },
      { type: 'attention', heads: 2 },
      { type: 'pool_positions', pool: 'first' },
      output,
    ],
  },
  {
    name: 'patches of a picture',
    images: {},
    layers: [{ type: 'patch_embedding', size: 3, dimensions: 3 }, smooth, { type: 'pool_positions' }, output],
  },
  onImages('batch norm of images', { type: 'batch_norm' }, { type: 'activation', activation: 'silu' }),
  onImages('group norm', { type: 'group_norm', groups: 2 }, { type: 'activation', activation: 'silu' }),
  onImages('dropout 2D', { type: 'dropout2d', rate: 0.4 }),
  onImages(
    'residual block with a projection',
    { type: 'conv2d', id: 'a', filters: 3, stride: 2, activation: 'silu' },
    { type: 'conv2d', id: 'short', from: '0', filters: 3, kernel: 1, stride: 2, padding: 0 },
    { type: 'add', from: ['a', 'short'] },
    { type: 'activation', activation: 'tanh' },
  ),
  {
    name: 'mixed images: cross-entropy with shares',
    images: { classes: 3 },
    layers: [{ type: 'conv2d', filters: 3, activation: 'tanh' }, { type: 'flatten' }, output],
    training: { labelSmoothing: 0.1, augmentation: { ...noAugmentation, flip: true, crop: 1, mixup: 1 } },
  },
  ...sequenceCases,
  { name: 'absolute error', layers: between(), training: { loss: 'mae' } },
  { name: 'Huber', layers: between(), training: { loss: 'huber', huberDelta: 0.7 } },
];

const batch = 6;

function open(testCase: Case): { executable: ReferenceExecutable; parameters: readonly string[] } {
  const made = { rows: 12, classes: 0, split: [1, 0, 0] } as const;
  const table = testCase.images
    ? makeImages({ ...made, channels: 2, height: 6, width: 5, ...testCase.images })
    : makeTable({ ...made, numeric: 3, ...testCase.table });
  const training: TrainingSpec = { ...defaultTraining(100, table.data.task), ...testCase.training };
  const model = resolveModel(
    { version: 1, layers: testCase.layers },
    table.data.input,
    outputWidth(table.data.output, training.loss),
  );
  const plan = compilePlan({
    model,
    output: table.data.output,
    training,
    data: { rows: 12, width: table.data.width, targets: 1 },
    stepCapacity: 1,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: batch,
  });
  const executable = new ReferenceExecutable(plan);
  initializeWeights(executable, model, 3);
  executable.write('data.x', table.x);
  executable.write('data.y', table.y);
  const { normalization } = table.data;
  normalization?.mean.forEach((mean, channel) => {
    executable.write('data.normalization', Float32Array.of(mean, normalization.deviation[channel]), 2 * channel);
  });
  for (const table of Object.keys(plan.tensors).filter((name) => name.startsWith('step.scalars'))) {
    executable.write(table, Float32Array.from([0, 1, 1, 0.7]));
  }
  executable.write('step.indices', Uint32Array.from([7, 2, 11, 0, 5, 2]));
  if ('loss.weights' in plan.tensors) executable.values('loss.weights').set([0.7, 1.9, 1.2].slice(0, 2));
  return { executable, parameters: model.parameters.filter((p) => sizeOf(p.shape) > 0).map((p) => p.name) };
}

for (const testCase of cases) {
  test(`gradient: ${testCase.name}`, async () => {
    const { executable, parameters } = open(testCase);
    await assertGradients(executable, `train@${batch}`, parameters);
  });
}

test('every layer and every differentiable op occurs in a gradient test', () => {
  const tested = new Set(cases.flatMap((c) => c.layers.map((layer) => layer.type)));
  assert.deepEqual(
    [...layers.keys()].filter((type) => !tested.has(type)),
    [],
  );
  // Ops are reached through layers; a new differentiable op has to be named here with the case that reaches it.
  const reached = new Set([
    'dense',
    'activation',
    'add',
    'dropout',
    'conv2d',
    'conv2d_input_grad',
    'max_pool',
    'average_pool',
    'upsample',
    'group_norm',
    'dropout_channels',
    'soft_cross_entropy',
    'reshape',
    'concat',
    ...['embedding', 'token_embedding', 'attention', 'pool_positions'],
    'batch_norm',
    'layer_norm',
    'rms_norm',
    'rotary',
    'unfold',
    'recurrence',
    'softmax_cross_entropy',
    'binary_cross_entropy',
    'regression_loss',
    // In ops.test.ts.
    ...['mul', 'expand', 'sum', 'mean', 'transpose', 'slice', 'gather', 'matmul', 'softmax'],
    // With respect to its input alone, in tests/unit/integrated-gradients.test.ts.
    'batch_norm_inference',
  ]);
  const differentiable = Object.entries(ops).filter(([, op]) => op.gradient !== 'none');
  assert.deepEqual(
    differentiable.map(([name]) => name).filter((name) => !reached.has(name)),
    [],
  );
});
