// The benchmark workloads: the same models and sizes that the peers' baselines time, on any backend. A workload opens on a
// backend and then runs units of work (an epoch, a step, a product), each complete when its promise resolves.

import { cifarResnet, mobilenet, normalised, resnet18 } from '../model/image-presets.ts';
import { mlp } from '../model/presets.ts';
import type { LayerSpec, ModelSpec, NetworkInput, OutputSpec } from '../model/spec.ts';
import { preNormBlock } from '../model/text-presets.ts';
import { fillNormal } from '../optim/random.ts';
import type { Plan } from '../plan/plan.ts';
import { predictionWorkload } from './prediction-workload.ts';
import { trainingWorkload } from './training-workload.ts';
import type { StepsWorkload, Workload } from './workload.ts';

const table = (width: number): NetworkInput => ({ kind: 'table', width, numeric: width, embeddings: [] });
const picture = (side: number) => ({ kind: 'image', channels: 3, height: side, width: side }) as const;
const digits: Extract<OutputSpec, { kind: 'classes' }> = {
  kind: 'classes',
  classes: Array.from({ length: 10 }, (_, k) => String(k)),
};

/** Random values of a factor of a product; they repeat: drawing millions would take longer than the product. */
const mostDrawn = 65_536;
/** Products of one call of the backend. */
const productsAtOnce = 64;

const largeMlp = { input: table(784), output: digits, model: mlp([512, 512]) };
const smallResnet = { input: picture(32), output: digits, model: cifarResnet(20, 'resnet20') };
const sgd = { name: 'sgd', learningRate: 0.1, momentum: 0.9, weightDecay: 0 } as const;

export const mnistCnn: ModelSpec = {
  version: 1,
  layers: [
    { type: 'conv2d', filters: 32, padding: 0, activation: 'relu' },
    { type: 'conv2d', filters: 64, padding: 0, activation: 'relu' },
    { type: 'max_pool' },
    { type: 'flatten' },
    { type: 'dense', units: 128 },
    { type: 'output' },
  ],
};

/** Training steps of small models, which the lab times too. */
const smallSteps: readonly StepsWorkload[] = [
  trainingWorkload({
    name: 'tabular-mlp',
    unit: 'ms/epoch',
    rows: 10_000,
    batch: 32,
    input: table(20),
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    model: mlp([64, 32]),
  }),
  trainingWorkload({
    name: 'mlp',
    unit: 'ms/step',
    rows: 128,
    batch: 128,
    unitsAtOnce: 32,
    ...largeMlp,
  }),
  trainingWorkload({
    name: 'mnist-cnn',
    unit: 'ms/step',
    rows: 64,
    batch: 64,
    input: { kind: 'image', channels: 1, height: 28, width: 28 },
    output: digits,
    model: mnistCnn,
  }),
  trainingWorkload({
    name: 'resnet20',
    unit: 'ms/step',
    rows: 64,
    batch: 64,
    ...smallResnet,
    optimizer: sgd,
  }),
];

/** Two pre-norm blocks over 64 positions of 128 values, and the mean of them. */
const encoder: ModelSpec = {
  version: 1,
  layers: [
    { type: 'sequence', id: 'x', length: 64 },
    ...['b1', 'b2'].flatMap((id, i) =>
      preNormBlock(id, i === 0 ? 'x' : 'b1', {
        ...{ blocks: 1, width: 128, heads: 4, inner: 512, positions: 0 },
        ...{ activation: 'relu', epsilon: 1e-5 },
      }),
    ),
    { type: 'pool_positions' },
    { type: 'output' },
  ],
};

/** Training steps of models that take a processor seconds, and answers to one row. */
const largeSteps: readonly StepsWorkload[] = [
  trainingWorkload({
    name: 'transformer',
    unit: 'ms/step',
    rows: 32,
    batch: 32,
    input: table(64 * 128),
    output: { kind: 'classes', classes: ['no', 'yes'] },
    model: encoder,
  }),
  trainingWorkload({
    name: 'resnet18-224',
    unit: 'ms/step',
    rows: 16,
    batch: 16,
    input: picture(224),
    output: digits,
    model: resnet18(picture(224)),
    optimizer: sgd,
  }),
  trainingWorkload({
    name: 'mobilenet-96',
    unit: 'ms/step',
    rows: 32,
    batch: 32,
    input: picture(96),
    output: digits,
    model: mobilenet(picture(96)),
    optimizer: sgd,
  }),
];

/** All workloads of one device. */
export const workloads: readonly Workload[] = [
  ...smallSteps,
  ...largeSteps,
  predictionWorkload({ name: 'mlp-one-row', ...largeMlp }),
  predictionWorkload({ name: 'resnet20-one-row', ...smallResnet }),
  ...[64, 128, 256, 512, 1024, 2048, 4096].map((n) => productWorkload(n)),
];

const relu: LayerSpec = { type: 'activation', activation: 'relu' };

/**
 * What the lab times beside the benchmarks' training steps, because nothing in them tells of it: convolutions of one channel each,
 * wide ones over small images, and batches of few rows.
 */
const kindsOfWork: readonly StepsWorkload[] = [
  trainingWorkload({
    name: 'depthwise-cnn',
    unit: 'ms/step',
    rows: 16,
    batch: 16,
    input: { kind: 'image', channels: 3, height: 32, width: 32 },
    output: digits,
    model: {
      version: 1,
      layers: [
        ...normalised(32, { stride: 2 }),
        relu,
        ...[64, 128, 256].flatMap((filters, i) => [
          ...normalised(32 << i, { groups: 32 << i }),
          relu,
          ...normalised(filters, { kernel: 1, stride: 2 }),
          relu,
        ]),
        { type: 'global_average_pool' },
        { type: 'output' },
      ],
    },
  }),
  trainingWorkload({
    name: 'wide-cnn',
    unit: 'ms/step',
    rows: 8,
    batch: 8,
    input: { kind: 'image', channels: 3, height: 16, width: 16 },
    output: digits,
    model: {
      version: 1,
      layers: [64, 128, 256, 256]
        .flatMap((filters): readonly LayerSpec[] => [...normalised(filters), { type: 'max_pool' }])
        .concat([{ type: 'flatten' }, { type: 'output' }]),
    },
  }),
  trainingWorkload({
    name: 'small-batch-mlp',
    unit: 'ms/step',
    rows: 4,
    batch: 4,
    unitsAtOnce: 32,
    input: table(64),
    output: digits,
    model: mlp([256, 128]),
  }),
];

/** Training steps that the lab times: those of the benchmarks, and more that tell how a device does each kind of work. */
export const labWorkloads: readonly StepsWorkload[] = [...smallSteps, ...kindsOfWork];

/** N×N×N product in float32, named `gemm-N`. */
export function productWorkload(n: number, products = 1): Workload {
  const flops = 2 * products * n ** 3;
  const bytes = 12 * products * n * n;
  const shape = products === 1 ? ([n, n] as const) : ([1, 1, 1, products, n, n] as const);
  const elements = products * n * n;
  const slot = (id: number, label: string) => ({ id, label, elements, type: 'f32', kind: 'persistent' }) as const;
  const place = (id: number) => ({ slot: id, offset: 0, shape, type: 'f32' }) as const;
  const sides = { m: n, n, k: n, transposeA: 0, transposeB: 0 };
  const outputs = [place(2)];
  const call =
    products === 1
      ? {
          kernel: 'matmul',
          inputs: [place(0), place(1), null, null],
          outputs,
          params: { ...sides, activation: 0, slope: 0, gradient: 0 },
        }
      : {
          kernel: 'batched_matmul',
          inputs: [place(0), place(1)],
          outputs,
          params: { ...sides, b0: 1, b1: 1, b2: 1, b3: products, a: 15, b: 15, scale: 1 },
        };
  const plan: Plan = {
    slots: [slot(0, 'a'), slot(1, 'b'), slot(2, 'c')],
    tensors: { a: place(0), b: place(1), c: place(2) },
    programs: { product: { name: 'product', batch: n, calls: [call], flops, bytes } },
    stepCapacity: productsAtOnce,
    checkpoint: [],
  };
  return {
    name: products === 1 ? `gemm-${n}` : `gemm-${n}x${products}`,
    unit: 'ms/step',
    flops,
    bytes,
    programs: [{ program: plan.programs.product, times: 1 }],
    open: async (backend) => {
      const executable = await backend.compile(plan);
      const values = new Float32Array(elements);
      const drawn = Math.min(mostDrawn, values.length);
      fillNormal(values.subarray(0, drawn), 1, 52, 1);
      for (let filled = drawn; filled < values.length; filled *= 2) values.copyWithin(filled, 0, filled);
      executable.write('a', values);
      executable.write('b', values);
      return {
        threads: executable.threads ?? backend.device.threads,
        run: async (units = 1) => {
          for (let done = 0; done < units; done += productsAtOnce) {
            await executable.run('product', Math.min(productsAtOnce, units - done));
          }
          await executable.read('c', 0, 1);
        },
        close: () => executable.dispose(),
      };
    },
  };
}
