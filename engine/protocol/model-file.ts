// `model.json` of a run: what its weights belong to. It is read strictly: a file that was changed must not become a model that
// predicts something else.

import { z } from 'zod';
import type { ModelSpec, OutputSpec, Task, TrainingSpec } from '../model/spec.ts';
import { linearFields, type LinearSettings } from '../settings/linear.ts';
import { storedSchemaOf } from '../settings/schema.ts';
import { optimizers, schedules, trainingFields } from '../settings/training.ts';
import { TrainyardError } from './errors.ts';
import type { PreparedData } from './data.ts';

interface CommonModelFile {
  readonly input: PreparedData['input'];
  readonly output: OutputSpec;
  readonly task: Task;
}

export interface NetworkModelFile extends CommonModelFile {
  readonly learner: 'network';
  readonly model: ModelSpec;
  readonly training: TrainingSpec;
}

export interface LinearModelFile extends CommonModelFile {
  readonly learner: 'linear';
  readonly linear: LinearSettings;
  /** Of the run. */
  readonly seed: number;
  /** That the weights were fitted with. */
  readonly penalty: number;
  /** Pictures: side of the grid of squares they are averaged to; 0 = a table. */
  readonly grid: number;
}

export type ModelFile = NetworkModelFile | LinearModelFile;

const count = z
  .int()
  .min(1)
  .max(2 ** 31);
const share = z.number().min(0).max(1);

const input = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('table'),
    width: z
      .int()
      .min(0)
      .max(2 ** 31),
    numeric: z
      .int()
      .min(0)
      .max(2 ** 31),
    embeddings: z.array(z.object({ name: z.string(), vocabulary: count, dimensions: count })),
  }),
  z.object({ kind: z.literal('image'), channels: count, height: count, width: count }),
]);

const output = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('classes'), classes: z.array(z.string()).min(1) }),
  z.object({ kind: z.literal('value'), name: z.string(), offset: z.number(), scale: z.number() }),
]);

/** Layers are checked in full when the model is built. */
const model = z.looseObject({
  version: z.literal(1),
  layers: z.array(z.looseObject({ type: z.string() })).max(10_000),
});

const training = z.looseObject({
  epochs: count,
  batch: count,
  seed: z.int().min(0),
  loss: z.enum(Object.keys(trainingFields.loss.choices)),
  huberDelta: z.number().positive(),
  labelSmoothing: share,
  classWeights: z.enum(Object.keys(trainingFields.classWeights.choices)),
  optimizer: z.looseObject({ name: z.enum(Object.keys(optimizers)), learningRate: z.number() }),
  schedule: z.looseObject({ name: z.enum(Object.keys(schedules)) }),
});

const common = { input, output, task: z.enum(['classification', 'regression']) };

const schema = z.discriminatedUnion('learner', [
  z.looseObject({ learner: z.literal('network'), model, training, ...common }),
  z.looseObject({
    learner: z.literal('linear'),
    linear: storedSchemaOf(linearFields),
    seed: z.int().min(0),
    penalty: z.number().min(0),
    grid: z
      .int()
      .min(0)
      .max(2 ** 16),
    ...common,
  }),
]);

/** Throws TrainyardError `run.damaged_file` when the text is no model file. */
export function parseModelFile(text: string, run: number): ModelFile {
  const found = parseRunJson(text, run, 'model.json');
  // Networks do not name their learner.
  const file = typeof found === 'object' ? { learner: 'network', ...found } : found;
  const parsed = schema.safeParse(file);
  if (parsed.success) return file as ModelFile;
  const [issue] = parsed.error.issues;
  throw damagedRunFile(run, 'model.json', `${issue.path.join('.')}: ${issue.message}`);
}

/** JSON of a run's folder. Throws TrainyardError `run.damaged_file`. */
export function parseRunJson(text: string, run: number, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damagedRunFile(run, file, 'it is not JSON');
  }
}

/** `what` is part of a sentence. */
export function damagedRunFile(run: number, file: string, what: string): TrainyardError {
  return new TrainyardError(
    'run.damaged_file',
    `The file ${file} of run ${run} is damaged: ${what}.`,
    'Put a copy of it back if you have one, or train again with the settings of the run.',
  );
}
