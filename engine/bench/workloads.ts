// The benchmark workloads: the same models and sizes that the peers' baselines time, on any backend. A workload opens on a
// backend and then runs units of work (an epoch, a step, a product), each complete when its promise resolves.

import type { Backend } from '../backends/backend.ts';
import { cifarResnet, normalised } from '../model/image-presets.ts';
import { defaultTraining, mlp } from '../model/presets.ts';
import { resolveModel } from '../model/resolve.ts';
import {
  valuesOf,
  type LayerSpec,
  type ModelSpec,
  type InputSpec,
  type NetworkInput,
  type OutputSpec,
  type TrainingSpec,
} from '../model/spec.ts';
import { fillNormal, sequentialWords, shuffle } from '../optim/random.ts';
import { compilePlan } from '../plan/compile.ts';
import { programName, type Plan, type Program } from '../plan/plan.ts';
import { initializeWeights } from '../train/weights.ts';

export interface OpenWorkload {
  /** Threads in use, where the device has any. */
  readonly threads: number;
  /** Runs units of work one after the other (one by default) and waits for the last. */
  readonly run: (units?: number) => Promise<void>;
  readonly close: () => void;
}

export interface Workload {
  readonly name: string;
  readonly unit: 'ms/epoch' | 'ms/step';
  /** Floating-point operations of one unit. */
  readonly flops: number;
  /** Bytes its kernels read and write, each operand once. */
  readonly bytes: number;
  /** The programs that a unit runs, and how often each. */
  readonly programs: readonly { readonly program: Program; readonly times: number }[];
  readonly open: (backend: Backend) => Promise<OpenWorkload>;
}

/** Training steps of a model on random rows. */
export interface TrainingWorkload {
  readonly name: string;
  readonly unit: Workload['unit'];
  readonly rows: number;
  readonly batch: number;
  /** Units whose steps go into one call of the backend, one by default; their tables have to fit memory. */
  readonly unitsAtOnce?: number;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly model: ModelSpec;
  /** Adam with 0.001 by default. */
  readonly optimizer?: Partial<TrainingSpec['optimizer']>;
}

const table = (width: number): NetworkInput => ({ kind: 'table', width, numeric: width, embeddings: [] });
const digits: OutputSpec = { kind: 'classes', classes: Array.from({ length: 10 }, (_, k) => String(k)) };

/** Random values of a factor of a product; they repeat: drawing millions would take longer than the product. */
const mostDrawn = 65_536;
/** Products of one call of the backend. */
const productsAtOnce = 64;

/** All workloads of one device. */
export const workloads: readonly Workload[] = [
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
    input: table(784),
    output: digits,
    model: mlp([512, 512]),
  }),
  trainingWorkload({
    name: 'mnist-cnn',
    unit: 'ms/step',
    rows: 64,
    batch: 64,
    input: { kind: 'image', channels: 1, height: 28, width: 28 },
    output: digits,
    model: {
      version: 1,
      layers: [
        { type: 'conv2d', filters: 32, padding: 0, activation: 'relu' },
        { type: 'conv2d', filters: 64, padding: 0, activation: 'relu' },
        { type: 'max_pool' },
        { type: 'flatten' },
        { type: 'dense', units: 128 },
        { type: 'output' },
      ],
    },
  }),
  trainingWorkload({
    name: 'resnet20',
    unit: 'ms/step',
    rows: 64,
    batch: 64,
    input: { kind: 'image', channels: 3, height: 32, width: 32 },
    output: digits,
    model: cifarResnet(20, 'resnet20'),
    optimizer: { name: 'sgd', learningRate: 0.1, momentum: 0.9, weightDecay: 0 },
  }),
  ...[64, 128, 256, 512, 1024, 2048, 4096].map((n) => productWorkload(n)),
];

const relu: LayerSpec = { type: 'activation', activation: 'relu' };

/**
 * What the lab times beside the benchmarks' training steps, because nothing in them tells of it: convolutions of one channel each,
 * wide ones over small images, and batches of few rows.
 */
const kindsOfWork: readonly Workload[] = [
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
export const labWorkloads: readonly Workload[] = [
  ...workloads.filter(({ name }) => !name.startsWith('gemm-')),
  ...kindsOfWork,
];

/** A workload of training steps of any model. */
export function trainingWorkload(workload: TrainingWorkload): Workload {
  const { name, unit, rows, batch, unitsAtOnce = 1, input, output, model: spec } = workload;
  const width = valuesOf(input);
  const classes = output.kind === 'classes' ? output.classes.length : 0;
  const base = defaultTraining(rows, classes > 0 ? 'classification' : 'regression');
  const training: TrainingSpec = {
    ...base,
    batch,
    optimizer: { ...base.optimizer, name: 'adam', learningRate: 0.001, weightDecay: 0, ...workload.optimizer },
  };
  const model = resolveModel(spec, input, Math.max(1, classes));
  const [full, remainder] = [Math.floor(rows / batch), rows % batch];
  const makePlan = (): Plan =>
    compilePlan({
      model,
      output,
      training,
      data: { rows, width, targets: 1 },
      stepCapacity: full * unitsAtOnce,
      predictSteps: 1,
      trainBatches: remainder > 0 ? [batch, remainder] : [batch],
      predictBatch: batch,
    });
  let known: Workload['programs'] | undefined;
  // Planned when it is asked for: the window knows all of them and looks at those of a lab.
  const programsOf = (): Workload['programs'] => {
    if (known) return known;
    const { programs } = makePlan();
    const rest = remainder > 0 ? [{ program: programs[programName('train', remainder)], times: 1 }] : [];
    return (known = [{ program: programs[programName('train', batch)], times: full }, ...rest]);
  };
  const total = (what: 'flops' | 'bytes'): number =>
    programsOf().reduce((sum, { program, times }) => sum + times * program[what], 0);

  return {
    name,
    unit,
    get flops() {
      return total('flops');
    },
    get bytes() {
      return total('bytes');
    },
    get programs() {
      return programsOf();
    },
    open: async (backend) => {
      const executable = await backend.compile(makePlan());
      initializeWeights(executable, model, 1);
      if (input.kind !== 'image') {
        const x = new Float32Array(rows * width);
        fillNormal(x, 1, 50, 1);
        executable.write('data.x', x);
      } else {
        const next = sequentialWords(1, 50, 0);
        executable.write(
          'data.x',
          Uint8Array.from({ length: rows * width }, () => next() >>> 24),
        );
        const normalization = Array.from({ length: input.channels }, () => [0.5, 0.29]);
        executable.write('data.normalization', Float32Array.from(normalization.flat()));
      }
      const y = new Float32Array(rows);
      if (classes > 0) y.forEach((_, i) => (y[i] = (i * 7) % classes));
      else fillNormal(y, 1, 51, 1);
      executable.write('data.y', y);
      const order = Uint32Array.from({ length: rows }, (_, i) => i);
      const indices = new Uint32Array(unitsAtOnce * full * batch);
      const scalars = new Float32Array(unitsAtOnce * full * 4);
      let steps = 0;
      const trainSteps = async (rowsOfSteps: Uint32Array, size: number): Promise<void> => {
        const count = rowsOfSteps.length / size;
        for (let i = 0; i < count; i++) {
          const t = ++steps;
          scalars.set([training.optimizer.learningRate, 1 - 0.9 ** t, 1 - 0.999 ** t, 0], 4 * i);
        }
        executable.write('step.indices', rowsOfSteps);
        executable.write('step.scalars', scalars.subarray(0, 4 * count));
        await executable.run(programName('train', size), count);
      };
      return {
        threads: executable.threads ?? backend.device.threads,
        run: async (units = 1) => {
          for (let done = 0; done < units; done += unitsAtOnce) {
            const count = Math.min(unitsAtOnce, units - done);
            for (let i = 0; i < count; i++) {
              shuffle(order, 1, 2, steps + i);
              indices.set(order.subarray(0, full * batch), i * full * batch);
            }
            await trainSteps(indices.subarray(0, count * full * batch), batch);
            if (remainder > 0) await trainSteps(order.subarray(full * batch), remainder);
          }
          await executable.read('ring.loss', 0, 1);
        },
        close: () => executable.dispose(),
      };
    },
  };
}

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
