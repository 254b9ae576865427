// How each learner leaves: a table typed by the list of all learners, so that a new one without an export does not compile.

import { outputsOf } from '../../learners/linear/declaration.ts';
import type { files } from '../../learners/file-list.ts';
import type { AutoModelFile } from '../../learners/auto/file.ts';
import type { BoostedModelFile } from '../../learners/boosted/file.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { NetworkModelFile } from '../../learners/network/file.ts';
import { forestOutputs } from '../../learners/trees/forest.ts';
import type { ForestModelFile } from '../../learners/trees/forest-learner.ts';
import { outputWidth } from '../../model/resolve.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { exportEnsemble } from './ensemble.ts';
import type { Features } from './features.ts';
import { exportLinear } from './linear.ts';
import { cannotExport } from '../refusal.ts';
import { exportNetwork } from './network.ts';
import { exportScores, exportTrees, exportVotes } from './trees.ts';

/** Adds a model; gives its raw outputs [N, width]: logits or standardised values. */
export type LearnerOnnx<F extends ModelFile = ModelFile> = (
  onnx: OnnxBuilder,
  file: F,
  weights: Weights,
  features: Features,
) => { readonly raw: ValueName; readonly width: number };

/** Each is only given files of its own learner. */
function of<F extends ModelFile>(rule: LearnerOnnx<F>): LearnerOnnx {
  return rule as unknown as LearnerOnnx;
}

/** Forests, whatever grew them. */
const forest = of<ForestModelFile>((onnx, file, weights, features) => {
  const sums = exportTrees(onnx, file, weights, features.of(file.input));
  return { raw: exportVotes(onnx, file, sums), width: forestOutputs(file.output) };
});

/** Its members are exported by the rules of their learners. */
const ensemble = of<AutoModelFile>((onnx, file, weights, features) => ({
  raw: exportEnsemble(onnx, file, weights, (member, own, recipe) =>
    ruleOf(member)(onnx, member, own, recipe ? features.by(recipe) : features),
  ),
  width: forestOutputs(file.output),
}));

export const learnerExports: Readonly<Record<keyof typeof files, LearnerOnnx>> = {
  auto: ensemble,
  boosted: of<BoostedModelFile>((onnx, file, weights, features) => {
    const scores = exportTrees(onnx, file, weights, features.of(file.input));
    return { raw: exportScores(onnx, file, scores), width: weights.first.data.length };
  }),
  extra: forest,
  forest,
  linear: of<LinearModelFile>((onnx, file, weights, features) => ({
    raw: exportLinear(onnx, file, weights, features.of(file.input)),
    width: outputsOf(file.output),
  })),
  // It keeps the files of an ensemble.
  search: ensemble,
  network: of<NetworkModelFile>((onnx, file, weights, features) => ({
    raw: exportNetwork(onnx, file, weights, features.of(file.input)),
    width: outputWidth(file.output, file.training.loss),
  })),
};

/** Throws `run.export` for a learner that this version has not. */
export function ruleOf({ learner }: Pick<ModelFile, 'learner'>): LearnerOnnx {
  if (Object.hasOwn(learnerExports, learner)) return learnerExports[learner as keyof typeof learnerExports];
  throw cannotExport(`There is no ONNX export of ${learner}.`, 'Export it as JSON.');
}
