// Replays a golden file (values from PyTorch, see make_golden.py) on a backend: the first gradients and ten losses.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Backend } from '../../engine/backends/backend.ts';
import { sizeOf } from '../../engine/graph/op.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import type { InputSpec, LayerSpec, OutputSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';

/** Those of texts are by make_text_golden.py, from llama on by make_sequence_golden.py. */
export const goldenNames = [
  'mlp-regression',
  'residual-classes',
  'embedded-huber',
  'bert',
  'gpt',
  'llama',
  'lstm',
  'gru',
  'vision',
] as const;

export interface Golden {
  readonly name: string;
  readonly numeric: number;
  readonly embeddings: readonly { readonly vocabulary: number; readonly dimensions: number }[];
  readonly texts?: readonly { readonly vocabulary: number; readonly length: number }[];
  readonly classes: number;
  readonly classWeights: readonly number[] | null;
  readonly layers: readonly LayerSpec[];
  readonly training: Partial<Omit<TrainingSpec, 'optimizer'>> & {
    readonly optimizer: Partial<TrainingSpec['optimizer']>;
  };
  readonly batch: number;
  readonly rows: number;
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly gradients: Readonly<Record<string, readonly number[]>>;
  readonly losses: readonly number[];
}

export function readGolden(name: string): Golden {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8')) as Golden;
}

export interface Replay {
  readonly losses: readonly number[];
  /** Gradients of the first step, by parameter. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

export async function replay(golden: Golden, backend: Backend): Promise<Replay> {
  const texts = (golden.texts ?? []).map((text, i) => ({ name: `t${i}`, ...text }));
  const tokens = texts.reduce((sum, { length }) => sum + length, 0);
  const width = golden.numeric + golden.embeddings.length + tokens;
  const embeddings = golden.embeddings.map((column, i) => ({ name: `c${i}`, ...column }));
  const input: InputSpec = { kind: 'table', width, numeric: golden.numeric, embeddings, texts };
  const output: OutputSpec = golden.classes
    ? { kind: 'classes', classes: Array.from({ length: golden.classes }, (_, k) => String(k)) }
    : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const base = defaultTraining(golden.rows, golden.classes ? 'classification' : 'regression');
  const training = { ...base, ...golden.training, optimizer: { ...base.optimizer, ...golden.training.optimizer } };
  const model = resolveModel({ version: 1, layers: golden.layers }, input, outputWidth(output, training.loss));
  const steps = golden.losses.length;
  const plan = compilePlan({
    model,
    output,
    training,
    data: { rows: golden.rows, width, targets: 1 },
    stepCapacity: steps,
    predictSteps: 1,
    trainBatches: [golden.batch],
    predictBatch: golden.batch,
  });
  const executable = await backend.compile(plan);
  for (const [name, values] of Object.entries(golden.parameters)) executable.write(name, Float32Array.from(values));
  for (const { name, shape, initial, values } of model.states) {
    executable.write(name, values ?? new Float32Array(sizeOf(shape)).fill(initial));
  }
  executable.write('data.x', Float32Array.from(golden.x));
  executable.write('data.y', Float32Array.from(golden.y));
  if (golden.classWeights) executable.write('loss.weights', Float32Array.from(golden.classWeights));
  const { beta1, beta2, learningRate } = training.optimizer;
  const losses: number[] = [];
  const gradients: Record<string, readonly number[]> = {};
  const run = async (first: number, count: number): Promise<void> => {
    const rows = Uint32Array.from({ length: count * golden.batch }, (_, i) => (first * golden.batch + i) % golden.rows);
    const scalars = Array.from({ length: count }, (_, i) => {
      const t = first + i + 1;
      return [learningRate, 1 - beta1 ** t, 1 - beta2 ** t, 0];
    });
    executable.write('step.indices', rows);
    executable.write('step.scalars', Float32Array.from(scalars.flat()));
    executable.write(
      'step.counters',
      Uint32Array.from({ length: count }, (_, i) => first + i),
    );
    await executable.run(`train@${golden.batch}`, count);
    losses.push(...((await executable.read('ring.loss', 0, count)) as Float32Array));
  };
  await run(0, 1);
  for (const name of Object.keys(golden.gradients)) {
    gradients[name] = [...((await executable.read(`gradient:${name}`)) as Float32Array)];
  }
  await run(1, steps - 1);
  executable.dispose();
  return { losses, gradients };
}

/** Throws where a replay leaves PyTorch's values: its own float32 rounding is the limit, about 1e-6 a step, growing with the steps. */
export function assertFollowsPytorch(golden: Replay, { losses, gradients }: Replay): void {
  losses.forEach((loss, step) => {
    const wanted = golden.losses[step];
    assert.ok(Math.abs(loss - wanted) <= 2e-5 * Math.abs(wanted), `loss ${step}: ${loss}, PyTorch has ${wanted}`);
  });
  for (const [parameter, wanted] of Object.entries(golden.gradients)) {
    const scale = Math.max(...wanted.map(Math.abs));
    wanted.forEach((value, i) => {
      const got = gradients[parameter][i];
      assert.ok(Math.abs(got - value) <= 1e-6 + 2e-5 * scale, `${parameter}[${i}]: ${got}, PyTorch has ${value}`);
    });
  }
}
