// How each learner leaves: a table typed by the list of all learners, so that a new one without an export does not compile.

import { outputsOf } from '../../learners/linear/declaration.ts';
import type { files } from '../../learners/file-list.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { NetworkModelFile } from '../../learners/network/file.ts';
import { outputWidth } from '../../model/resolve.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { exportLinear } from './linear.ts';
import { exportNetwork } from './network.ts';
import { cannotExport } from '../refusal.ts';

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

/** Trees have no ONNX export yet. */
const noTrees: LearnerOnnx = (_onnx, { learner }) => {
  throw cannotExport(`There is no ONNX export of ${learner} trees yet.`, 'Export the run as JSON.');
};

export const learnerExports: Readonly<Record<keyof typeof files, LearnerOnnx>> = {
  boosted: noTrees,
  extra: noTrees,
  forest: noTrees,
  linear: of<LinearModelFile>((onnx, file, weights, features) => ({
    raw: exportLinear(onnx, file, weights, features),
    width: outputsOf(file.output),
  })),
  network: of<NetworkModelFile>((onnx, file, weights, features) => ({
    raw: exportNetwork(onnx, file, weights, features),
    width: outputWidth(file.output, file.training.loss),
  })),
};
