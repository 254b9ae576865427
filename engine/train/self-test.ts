// Whether a device computes what it should, on this machine and in this engine: a few training steps of a small MLP and a
// small CNN through the real session, against the losses of the float64 reference. Every host asks this before its first run
// (electron/hosts/trusted-cpu.ts, renderer/gpu/trusted-gpu.ts); tests/unit/self-test.test.ts derives the stored losses anew.

import type { Backend } from '../backends/backend.ts';
import { mlp } from '../model/presets.ts';
import {
  usualTraining,
  valuesOf,
  type ModelSpec,
  type NetworkInput,
  type OutputSpec,
  type TrainingSpec,
} from '../model/spec.ts';
import { sequentialWords } from '../optim/random.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import { evaluate } from './metrics.ts';
import { Session } from './session.ts';
import { initializeWeights } from './weights.ts';

/** One small training: its model and data, and what has to come out. */
interface SelfTestCase {
  readonly name: string;
  readonly model: ModelSpec;
  readonly input: NetworkInput;
  readonly optimizer: Partial<TrainingSpec['optimizer']>;
  /** Losses of the steps, then the validation loss after them. */
  readonly losses: readonly number[];
}

const batch = 16;
const trainRows = 48;
const validationRows = 20;
const epochs = 2;
const classNames = ['a', 'b', 'c', 'd'];
const output: OutputSpec = { kind: 'classes', classes: classNames };

const usual = usualTraining({
  task: 'classification',
  rows: trainRows,
  classes: classNames.length,
  pictures: null,
  model: { batchNorm: false, steps: 0 },
});

/**
 * Spelt out: the stored losses must not change with the defaults for people. A setting that came later has the default that does
 * what was done before.
 */
const settings: TrainingSpec = {
  ...usual,
  epochs,
  batch,
  accumulate: 1,
  checkpointing: false,
  precision: 'float32',
  seed: 1,
  loss: 'auto',
  huberDelta: 1,
  labelSmoothing: 0,
  classWeights: 'none',
  optimizer: {
    ...usual.optimizer,
    name: 'adam',
    learningRate: 0.01,
    weightDecay: 0,
    momentum: 0.9,
    nesterov: false,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    alpha: 0.99,
  },
  clipNorm: 0,
  schedule: { ...usual.schedule, name: 'constant', warmupEpochs: 0, stepEpochs: 1, gamma: 1, finalShare: 1 },
  earlyStopping: { ...usual.earlyStopping, enabled: false, patience: 1, minimumDelta: 0 },
};

export const selfTestCases: readonly SelfTestCase[] = [
  {
    name: 'a small MLP',
    model: mlp([48, 32], { dropout: 0.1 }),
    input: { kind: 'table', width: 20, numeric: 20, embeddings: [] },
    optimizer: { name: 'adam', learningRate: 0.01 },
    losses: [1.4082818, 1.3748674, 1.4091527, 1.30462, 1.3368903, 1.256785, 1.2574185],
  },
  {
    name: 'a small CNN',
    model: {
      version: 1,
      layers: [
        { type: 'conv2d', filters: 8, activation: 'relu' },
        { type: 'batch_norm' },
        { type: 'max_pool' },
        { type: 'flatten' },
        { type: 'dense', units: 24, activation: 'relu' },
        { type: 'output' },
      ],
    },
    input: { kind: 'image', channels: 3, height: 10, width: 10 },
    optimizer: { name: 'sgd', learningRate: 0.05, momentum: 0.9 },
    losses: [1.5279629, 1.2934293, 1.5199752, 0.9742731, 1.1152699, 0.8599154, 1.3463278],
  },
];

/** How far a loss in float32 may be from the reference's: far more than rounding makes, far less than a fault. */
const tolerance = 1e-3;

/**
 * Trains the small models on `backend` and returns what came out wrong, in words, or null when all is right. `rest` is awaited
 * between submits: threads should have gone to sleep by then, as they do between the submits of a real run.
 */
export async function selfTest(backend: Backend, rest: () => Promise<void>): Promise<string | null> {
  // All are opened before the first trains: their threads start side by side.
  const opened: { readonly each: SelfTestCase; readonly session: Session }[] = [];
  try {
    for (const each of casesFor(backend)) opened.push({ each, session: await openSession(each, backend) });
    for (const { each, session } of opened) {
      const losses = await trainSession(session, rest);
      const wrong = losses.findIndex((loss, i) => !(Math.abs(loss - each.losses[i]) <= tolerance * each.losses[i]));
      if (wrong >= 0) return describe(each, losses, wrong);
    }
    return null;
  } finally {
    for (const { session } of opened) session.close();
  }
}

/** A GPU made of software takes seconds to compile the shaders of a CNN, and is there for testing alone. */
function casesFor({ device }: Backend): readonly SelfTestCase[] {
  return device.software ? selfTestCases.slice(0, 1) : selfTestCases;
}

/** The losses of one case on a backend, in the order of `SelfTestCase.losses`. */
export async function selfTestLosses(each: SelfTestCase, backend: Backend): Promise<readonly number[]> {
  const session = await openSession(each, backend);
  try {
    return await trainSession(session, async () => undefined);
  } finally {
    session.close();
  }
}

function describe({ name, losses: stored }: SelfTestCase, losses: readonly number[], wrong: number): string {
  const what = wrong < losses.length - 1 ? `the loss of step ${wrong + 1}` : 'the validation loss';
  return `${what} of ${name} is ${losses[wrong].toPrecision(5)} instead of ${stored[wrong].toPrecision(5)}`;
}

async function openSession({ model, input, optimizer }: SelfTestCase, backend: Backend): Promise<Session> {
  const { data, shard } = makeData(input);
  const training: TrainingSpec = { ...settings, optimizer: { ...settings.optimizer, ...optimizer } };
  const readShard = async (): Promise<Shard> => shard;
  return Session.open({ backend, model, training, data, readShard, dataBudget: Infinity });
}

/** Step losses and the validation loss of a fresh training. */
async function trainSession(session: Session, rest: () => Promise<void>): Promise<readonly number[]> {
  const losses: number[] = [];
  initializeWeights(session.executable, session.model, session.training.seed);
  for (let epoch = 0; epoch < epochs; epoch++) {
    await session.enter(epoch, 0);
    for (let step = 0; step < session.stepsPerEpoch; step++) {
      losses.push(...(await session.train(losses.length, step * batch, 1, batch)));
      await rest();
    }
  }
  const range = { start: trainRows, end: trainRows + validationRows };
  const outputs = await session.predict(range);
  const targets = session.rows.targets.subarray(range.start, range.end);
  const { metrics } = evaluate(outputs, targets, { output, training: session.training, weights: session.classWeights });
  return [...losses, metrics.loss];
}

/** Rows whose class can be learnt: one value in five depends on it. */
function makeData(input: NetworkInput): { readonly data: PreparedData; readonly shard: Shard } {
  const rows = trainRows + validationRows;
  const width = valuesOf(input);
  const words = sequentialWords(1, 99, 0);
  const y = Float32Array.from({ length: rows }, (_, row) => row % classNames.length);
  const value = (index: number): number => {
    const noise = words() / 2 ** 32;
    return index % 5 === 0 ? (noise + y[Math.floor(index / width)]) / classNames.length : noise;
  };
  const x =
    input.kind === 'table'
      ? Float32Array.from({ length: rows * width }, (_, index) => 2 * value(index) - 1)
      : Uint8Array.from({ length: rows * width }, (_, index) => Math.floor(256 * value(index)));
  const data: PreparedData = {
    handle: 'self-test',
    input,
    output,
    task: 'classification',
    counts: { train: trainRows, validation: validationRows, test: 0 },
    width,
    targets: 1,
    shardStarts: [0, rows],
    classCounts: classNames.map(() => trainRows / classNames.length),
    preprocessing: null,
    warnings: [],
  };
  return { data, shard: { rows, x, y } };
}
