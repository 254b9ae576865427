// What the model file of a network holds: its layers and how it was trained.

import { z } from 'zod';
import type { ModelSpec, TrainingSpec } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import { optimizers, schedules, trainingFields } from '../../settings/training.ts';

export interface NetworkModelFile extends ModelFile {
  readonly learner: 'network';
  readonly model: ModelSpec;
  readonly training: TrainingSpec;
}

export function isNetworkFile(read: ModelFile): read is NetworkModelFile {
  return read.learner === 'network';
}

const count = z
  .int()
  .min(1)
  .max(2 ** 31);
const share = z.number().min(0).max(1);

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

export const file = { model, training };
