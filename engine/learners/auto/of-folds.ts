// A cross-validation as a model: an ensemble of one member, whose models are those of its folds, all of the same weight. Each was fitted with a
// preprocessing of its own, so rows come as the columns of all of them and are made for each by that.

import { jointPreprocessing } from '../../data/preprocess/joint-recipe.ts';
import { checkedModelFile } from '../model-file.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import { quietOf } from '../../settings/values.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../train/safetensors.ts';
import { autoFields } from './declaration.ts';

/** What the run of a fold has kept, read. */
export interface FoldFiles {
  /** From 1. */
  readonly fold: number;
  readonly model: object;
  readonly preprocessing: object;
  readonly weights: Uint8Array;
}

/** The files of an ensemble of them, one at least, in the order of their numbers. Throws TrainyardError where one is damaged. */
export function ensembleOfFolds(
  folds: readonly FoldFiles[],
  { learner, seed }: { readonly learner: string; readonly seed: number },
): { readonly model: string; readonly preprocessing: string; readonly weights: Uint8Array } {
  const tensors: Record<string, SafeTensor> = {};
  folds.forEach(({ weights }, at) => {
    for (const [name, tensor] of Object.entries(decodeSafetensors(weights).tensors))
      tensors[`0.${at}.${name}`] = tensor;
  });
  const { recipe, input, output } = jointPreprocessing(folds.map(({ preprocessing }) => preprocessing));
  const member = {
    title: 'The folds',
    learner,
    weight: 1,
    models: folds.map((one) => one.model),
    folds: folds.map(({ fold }) => fold),
    recipes: folds.map((one) => one.preprocessing),
  };
  const file: ModelFile & Readonly<Record<string, unknown>> = {
    learner: 'auto',
    auto: { ...quietOf(autoFields), parts: folds.length },
    seed,
    recipe,
    input,
    output,
    task: checkedModelFile(folds[0].model, 0).task,
    members: [member],
  };
  return {
    model: JSON.stringify(file),
    preprocessing: JSON.stringify(recipe),
    weights: encodeSafetensors({ tensors, metadata: { format: 'pt' } }),
  };
}
