// The trees of a finished run, read from its files.

import { declarationOf } from '../learners/declared/registry.ts';
import { crossedMember } from '../learners/auto/file.ts';
import type { GrownTrees } from '../learners/trees/explained.ts';
import { readTrained } from '../learners/predict.ts';
import { InputError } from '../protocol/errors.ts';
import type { ModelFile } from '../protocol/model-file.ts';

/** Throws InputError `input.no_trees` for a model of another kind. */
export function treesOfRun(
  model: string,
  weights: Uint8Array,
  run: number,
): { readonly trees: GrownTrees; readonly file: ModelFile } {
  const { trees, file } = readTrained(model, weights, run);
  if (trees) return { trees, file };
  if (crossedMember(file)) {
    throw new InputError(
      'input.no_trees',
      `Run ${run} is a cross-validation, the mean of several models: it has no trees of its own.`,
      'Look at those of one of its folds.',
    );
  }
  throw new InputError(
    'input.no_trees',
    `Run ${run} is ${declarationOf(file).noun}: it has no trees.`,
    'Train boosted trees or a forest.',
  );
}
