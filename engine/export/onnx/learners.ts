// How each learner leaves: a table typed by the list of all learners, so that a new one without an export does not compile.

import { outputsOf } from '../../learners/linear/declaration.ts';
import type { files } from '../../learners/file-list.ts';
import type { BoostedModelFile } from '../../learners/boosted/file.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { NetworkModelFile } from '../../learners/network/file.ts';
import { forestOutputs } from '../../learners/trees/forest.ts';
import type { ForestModelFile } from '../../learners/trees/forest-learner.ts';
import { outputWidth } from '../../model/resolve.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { exportLinear } from './linear.ts';
import { cannotExport } from '../refusal.ts';
import { exportNetwork } from './network.ts';
import { exportScores, exportTrees, exportVotes } from './trees.ts';

/** Adds a model; gives its raw outputs [N, width]: logits or standardised values. */
export type LearnerOnnx<F extends ModelFile = ModelFile> = (
  onnx: OnnxBuilder,
  file: F,
  weights: Weights,
  features: ValueName,
) => { readonly raw: ValueName; readonly width: number };

/** Each is only given files of its own learner. */
function of<F extends ModelFile>(rule: LearnerOnnx<F>): LearnerOnnx {
  return rule as unknown as LearnerOnnx;
}

/** Forests, whatever grew them. */
const forest = of<ForestModelFile>((onnx, file, weights, features) => {
  const sums = exportTrees(onnx, file, weights, features);
  return { raw: exportVotes(onnx, file, sums), width: forestOutputs(file.output) };
});

/** Members take rows in forms of their own. */
const noEnsemble: LearnerOnnx = () => {
  throw cannotExport(
    'There is no ONNX export of an ensemble yet.',
    'Export the run as JSON, or train one of its models alone.',
  );
};

export const learnerExports: Readonly<Record<keyof typeof files, LearnerOnnx>> = {
  auto: noEnsemble,
  boosted: of<BoostedModelFile>((onnx, file, weights, features) => {
    const scores = exportTrees(onnx, file, weights, features);
    return { raw: exportScores(onnx, file, scores), width: weights.first.data.length };
  }),
  extra: forest,
  forest,
  linear: of<LinearModelFile>((onnx, file, weights, features) => ({
    raw: exportLinear(onnx, file, weights, features),
    width: outputsOf(file.output),
  })),
  network: of<NetworkModelFile>((onnx, file, weights, features) => ({
    raw: exportNetwork(onnx, file, weights, features),
    width: outputWidth(file.output, file.training.loss),
  })),
};
