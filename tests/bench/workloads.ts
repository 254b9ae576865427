// The benchmark workloads of docs and design as compiled plans with random rows, for timing a backend without the trainer.

import type { Executable } from '../../engine/backends/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { OutputSpec } from '../../engine/model/spec.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { programName, type Plan } from '../../engine/plan/plan.ts';

/** A training program with its data resident and its step tables filled. */
export interface Workload {
  readonly name: string;
  readonly plan: Plan;
  readonly program: string;
  /** Steps of one submit. */
  readonly steps: number;
  /** Rows of the synthetic data. */
  readonly rows: number;
  readonly batch: number;
}

interface Shape {
  readonly name: string;
  readonly rows: number;
  readonly inputs: number;
  readonly hidden: readonly number[];
  readonly classes: number;
  readonly batch: number;
  readonly steps: number;
}

const shapes: readonly Shape[] = [
  { name: 'tabular-mlp', rows: 10_000, inputs: 20, hidden: [64, 32], classes: 0, batch: 32, steps: 312 },
  { name: 'mlp', rows: 4_096, inputs: 784, hidden: [512, 512], classes: 10, batch: 128, steps: 8 },
];

export const workloads: readonly Workload[] = shapes.map((shape) => {
  const { name, rows, inputs, batch, steps } = shape;
  const output: OutputSpec =
    shape.classes > 0
      ? { kind: 'classes', classes: Array.from({ length: shape.classes }, (_, i) => String(i)) }
      : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const base = defaultTraining(rows, shape.classes > 0 ? 'classification' : 'regression');
  const training = {
    ...base,
    batch,
    clipNorm: 0,
    optimizer: { ...base.optimizer, name: 'adam' as const, weightDecay: 0 },
  };
  const model = resolveModel(
    mlp(shape.hidden),
    { kind: 'table', width: inputs, numeric: inputs, embeddings: [] },
    Math.max(1, shape.classes),
  );
  const data = { rows, width: inputs, targets: 1 };
  const plan = compilePlan({
    model,
    output,
    training,
    data,
    stepCapacity: steps,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: batch,
  });
  return { name, plan, program: programName('train', batch), steps, rows, batch };
});

/** Fills data, weights and step tables with seeded values. */
export async function openWorkload<E extends Executable>(
  workload: Workload,
  backend: { compile(plan: Plan): Promise<E> },
): Promise<E> {
  const { plan, steps, rows, batch } = workload;
  const executable = await backend.compile(plan);
  const random = seeded(1);
  for (const [name, place] of Object.entries(plan.tensors)) {
    const count = place.shape.reduce((product, size) => product * size, 1);
    if (name === 'data.x')
      executable.write(
        name,
        Float32Array.from({ length: count }, () => random() * 2 - 1),
      );
    else if (name === 'data.y')
      executable.write(
        name,
        Float32Array.from({ length: count }, () => Math.floor(random() * 10)),
      );
    else if (name.endsWith('.weight') && !name.startsWith('gradient:')) {
      const spread = Math.sqrt(6 / place.shape[0]);
      executable.write(
        name,
        Float32Array.from({ length: count }, () => (random() * 2 - 1) * spread),
      );
    }
  }
  executable.write(
    'step.indices',
    Uint32Array.from({ length: steps * batch }, () => Math.floor(random() * rows)),
  );
  executable.write(
    'step.counters',
    Uint32Array.from({ length: steps }, (_, i) => i),
  );
  const scalars = Array.from({ length: steps }, (_, i) => [1e-4, 1 - 0.9 ** (i + 1), 1 - 0.999 ** (i + 1), 0]);
  executable.write('step.scalars', Float32Array.from(scalars.flat()));
  return executable;
}

/** mulberry32: uniform in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
