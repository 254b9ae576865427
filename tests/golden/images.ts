// Replays a golden file of an image model (make_image_golden.py) on a backend. Images, labels and first weights are not in the
// file: both sides draw them from the same counted random numbers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Backend } from '../../engine/backends/backend.ts';
import { cifarResnet } from '../../engine/model/image-presets.ts';
import { mnistCnn } from '../../engine/bench/workloads.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { InputSpec, ModelSpec, OutputSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';

const models = {
  'mnist-cnn': mnistCnn,
  resnet20: cifarResnet(20, 'resnet20'),
} as const satisfies Readonly<Record<string, ModelSpec>>;

export type ImageGoldenName = keyof typeof models;
export const imageGoldenNames = Object.keys(models) as ImageGoldenName[];

export interface ImageGolden {
  readonly name: ImageGoldenName;
  readonly shape: readonly [channels: number, height: number, width: number];
  readonly seed: number;
  readonly imageStream: number;
  readonly rows: number;
  readonly batch: number;
  readonly classes: number;
  readonly mean: number;
  readonly deviation: number;
  readonly optimizer: Partial<TrainingSpec['optimizer']>;
  readonly losses: readonly number[];
  /** Of the first step, by position of the parameter: every `step`-th value, and the norm of all. */
  readonly gradients: readonly { readonly step: number; readonly norm: number; readonly values: readonly number[] }[];
}

export function readImageGolden(name: ImageGoldenName): ImageGolden {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8')) as ImageGolden;
}

export interface ImageReplay {
  readonly losses: readonly number[];
  /** Gradients of the first step, in the order of the parameters. */
  readonly gradients: readonly (readonly number[])[];
}

export async function replayImages(golden: ImageGolden, backend: Backend): Promise<ImageReplay> {
  const { shape, seed, rows, batch, classes } = golden;
  const [channels, height, width] = shape;
  const input: InputSpec = { kind: 'image', channels, height, width };
  const output: OutputSpec = { kind: 'classes', classes: Array.from({ length: classes }, (_, k) => String(k)) };
  const base = defaultTraining(rows, 'classification');
  const training = { ...base, batch, seed, optimizer: { ...base.optimizer, ...golden.optimizer } };
  const model = resolveModel(models[golden.name], input, classes);
  const size = channels * height * width;
  const steps = golden.losses.length;
  const plan = compilePlan({
    model,
    output,
    training,
    data: { rows, width: size, targets: 1 },
    stepCapacity: steps,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: batch,
  });
  const executable = await backend.compile(plan);
  initializeWeights(executable, model, seed);
  const pixel = (i: number): number => threefry2x32(seed, golden.imageStream, i >>> 1, 0)[i & 1] >>> 24;
  executable.write(
    'data.x',
    Uint8Array.from({ length: rows * size }, (_, i) => pixel(i)),
  );
  executable.write(
    'data.y',
    Float32Array.from({ length: rows }, (_, i) => (7 * i) % classes),
  );
  const normalization = Array.from({ length: channels }, () => [golden.mean, golden.deviation]);
  executable.write('data.normalization', Float32Array.from(normalization.flat()));
  const { beta1, beta2, learningRate } = training.optimizer;
  const losses: number[] = [];
  const gradients: number[][] = [];
  for (let step = 0; step < steps; step++) {
    const indices = Uint32Array.from({ length: batch }, (_, i) => (step * batch + i) % rows);
    executable.write('step.indices', indices);
    const corrections = [1 - beta1 ** (step + 1), 1 - beta2 ** (step + 1)];
    executable.write('step.scalars', Float32Array.of(learningRate, ...corrections, 0));
    await executable.run(`train@${batch}`, 1);
    losses.push((await executable.read('ring.loss', 0, 1))[0]);
    if (step > 0) continue;
    for (const { name } of model.parameters) gradients.push([...(await executable.read(`gradient:${name}`))]);
  }
  executable.dispose();
  return { losses, gradients };
}

/**
 * Throws where a replay leaves PyTorch's float64 values by more than `relative` in the first loss and in the gradients (of the
 * largest value of each), and by `growth` times as much a step further on.
 */
export function assertFollows(golden: ImageGolden, replay: ImageReplay, relative: number, growth: number): void {
  replay.losses.forEach((loss, step) => {
    const wanted = golden.losses[step];
    const allowed = relative * growth ** step * Math.abs(wanted);
    assert.ok(Math.abs(loss - wanted) <= allowed, `loss ${step}: ${loss}, PyTorch has ${wanted}`);
  });
  golden.gradients.forEach(({ step, norm, values }, parameter) => {
    const gradient = replay.gradients[parameter];
    const scale = gradient.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    values.forEach((value, i) => {
      const got = gradient[i * step];
      const allowed = 10 * relative * scale + 1e-7;
      assert.ok(Math.abs(got - value) <= allowed, `gradient ${parameter}[${i * step}]: ${got}, PyTorch has ${value}`);
    });
    const ownNorm = Math.sqrt(gradient.reduce((sum, value) => sum + value * value, 0));
    assert.ok(
      Math.abs(ownNorm - norm) <= 10 * relative * norm + 1e-7,
      `gradient ${parameter}: ‖${ownNorm}‖, ‖${norm}‖`,
    );
  });
}
