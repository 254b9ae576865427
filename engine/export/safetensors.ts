// The weights as safetensors, named and turned as PyTorch has them, and a `model.py` that loads them where PyTorch has words for the
// model; the metadata holds the model and the preprocessing.

import { readsTexts } from '../model/spec.ts';
import { isNetworkFile } from '../learners/network/file.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { ExportedFile } from '../protocol/exports.ts';
import { encodeSafetensors } from '../train/safetensors.ts';
import type { Weights } from '../train/weights.ts';
import { utf8 } from './onnx/proto.ts';
import type { OpenedRun } from './opened.ts';
import { outward } from './outward.ts';
import { isLinearFile } from './torch/linear-model.ts';
import { loaderSource, modelSource, resolvedOf } from './torch/model.ts';
import { underModules } from './torch/names.ts';

export function exportSafetensors(
  name: string,
  { model, preprocessing, file, tensors }: OpenedRun,
): readonly ExportedFile[] {
  const metadata = { format: 'pt', 'trainyard.model': model, 'trainyard.preprocessing': preprocessing };
  const weights = { path: `${name}.safetensors`, data: torchWeights(file, tensors, metadata) };
  // PyTorch has no module that reads words as a linear model does.
  if (isLinearFile(file) && readsTexts(file.input)) return [weights];
  return [weights, { path: `${name}.model.py`, data: utf8(modelSource(file) + loaderSource(weights.path)) }];
}

/** Weights as a module of PyTorch takes them up. */
export function torchWeights(
  file: ModelFile,
  tensors: Weights,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const turned = outward(file, tensors);
  return encodeSafetensors({
    tensors: isNetworkFile(file) ? underModules(resolvedOf(file), turned) : turned,
    metadata,
  });
}
