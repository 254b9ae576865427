// All settings of the learner `network`: how it is trained and, for pictures, how they are changed meanwhile.

import { augmentationFields, type AugmentationSpec } from './augmentation.ts';
import { runFields } from './run.ts';
import { trainingFields, type NetworkSettings, type TrainedOn } from './training.ts';
import { completed, defaultsOf } from './values.ts';

export interface TrainingSpec extends NetworkSettings {
  readonly seed: number;
  /** Absent = pictures as they are. */
  readonly augmentation?: AugmentationSpec;
}

/** The settings to start from with this data and model. */
export function usualTraining(about: TrainedOn): TrainingSpec {
  const training = { ...defaultsOf(trainingFields, about), seed: runFields.seed.default };
  return about.pictures ? { ...training, augmentation: defaultsOf(augmentationFields, about) } : training;
}

/** Settings as they are kept, with those that were not there yet when they were written. */
export function completeTraining<T extends Omit<TrainingSpec, 'seed'>>(stored: T): T {
  const training = completed(trainingFields, stored);
  const { augmentation } = stored;
  return augmentation ? { ...training, augmentation: completed(augmentationFields, augmentation) } : training;
}
