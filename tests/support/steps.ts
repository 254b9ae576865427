// Training programs of the benchmark's MLPs with made-up rows, to run steps on a backend without the trainer.

import type { Executable } from '../../engine/backends/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { OutputSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { programName, type Plan } from '../../engine/plan/plan.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { uniform } from './table.ts';

export interface StepsShape {
  readonly name: string;
  readonly rows: number;
  readonly inputs: number;
  readonly hidden: readonly number[];
  /** 0 = regression. */
  readonly classes: number;
  readonly batch: number;
}

export const tabularMlp: StepsShape = {
  name: 'tabular-mlp',
  rows: 1_000,
  inputs: 20,
  hidden: [64, 32],
  classes: 0,
  batch: 32,
};
/** The benchmark's mlp with a quarter of its batch: a GPU made of software takes half a second a step with all of it. */
export const digitsMlp: StepsShape = {
  name: 'mlp',
  rows: 512,
  inputs: 784,
  hidden: [512, 512],
  classes: 10,
  batch: 32,
};

export interface OpenSteps<E extends Executable> {
  readonly executable: E;
  readonly plan: Plan;
  readonly program: string;
}

/** Compiles the training step of an MLP with Adam, with data, first weights and tables for `steps` steps. */
export async function openSteps<E extends Executable>(
  shape: StepsShape,
  backend: { compile(plan: Plan): Promise<E> },
  steps: number,
): Promise<OpenSteps<E>> {
  const { rows, inputs, hidden, classes, batch } = shape;
  const output: OutputSpec =
    classes > 0
      ? { kind: 'classes', classes: Array.from({ length: classes }, (_, k) => String(k)) }
      : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const base = defaultTraining(rows, classes > 0 ? 'classification' : 'regression');
  const training = { ...base, batch, optimizer: { ...base.optimizer, name: 'adam' as const, weightDecay: 0 } };
  const input = { kind: 'table', width: inputs, numeric: inputs, embeddings: [] } as const;
  const model = resolveModel(mlp(hidden), input, Math.max(1, classes));
  const plan = compilePlan({
    model,
    output,
    training,
    data: { rows, width: inputs, targets: 1 },
    stepCapacity: steps,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: batch,
  });
  const executable = await backend.compile(plan);
  initializeWeights(executable, model, 1);
  const random = uniform(7);
  const x = Float32Array.from({ length: rows * inputs }, () => random() * 2 - 1);
  const y = Float32Array.from({ length: rows }, (_, row) =>
    classes > 0 ? row % classes : x[row * inputs] - 0.5 * x[row * inputs + 1],
  );
  executable.write('data.x', x);
  executable.write('data.y', y);
  executable.write(
    'step.indices',
    Uint32Array.from({ length: steps * batch }, () => Math.floor(random() * rows)),
  );
  const scalars = Array.from({ length: steps }, (_, i) => [1e-3, 1 - 0.9 ** (i + 1), 1 - 0.999 ** (i + 1), 0]);
  executable.write('step.scalars', Float32Array.from(scalars.flat()));
  return { executable, plan, program: programName('train', batch) };
}
