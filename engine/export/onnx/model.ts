// A run's model as one ONNX file: a file's columns or pixels in, answers out, everything between as the run had it. Written for
// opset 20, the number of rows left open.

import type { ImagePreprocessing } from '../../data/images/recipe.ts';
import { isImagePreprocessing, parseImagePreprocessing } from '../../data/images/recipe.ts';
import { parsePreprocessing, type Preprocessing } from '../../data/preprocess/recipe.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import { cannotExport } from '../refusal.ts';
import { exportAnswers, type AnswerNames } from './answers.ts';
import { OnnxBuilder, type ValueName } from './builder.ts';
import { exportColumns } from './columns.ts';
import { learnerExports, type LearnerOnnx } from './learners.ts';
import { exportPixels } from './pixels.ts';
import { exportRawColumns } from './raw-columns.ts';
import { encodeModel, opset, type OnnxValue } from './proto.ts';

/** What is exported. */
export interface Exportable {
  readonly name: string;
  /** `model.json`, read. */
  readonly file: ModelFile;
  readonly weights: Weights;
  /** `preprocessing.json`, not yet checked. */
  readonly preprocessing: unknown;
}

export interface OnnxExport {
  readonly bytes: Uint8Array;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly answers: AnswerNames;
  readonly opset: number;
}

/** @throws TrainyardError `run.export` where ONNX has no words for it, `input.preprocessing`, `model.weights`. */
export function exportOnnx({ name, file, weights, preprocessing }: Exportable): OnnxExport {
  const onnx = new OnnxBuilder();
  const features = exportFeatures(onnx, preprocessing);
  const learner: LearnerOnnx | undefined = Object.hasOwn(learnerExports, file.learner)
    ? learnerExports[file.learner as keyof typeof learnerExports]
    : undefined;
  if (!learner) throw cannotExport(`There is no ONNX export of ${file.learner}.`, 'Export it as JSON.');
  const { raw, width } = learner(onnx, file, weights, features);
  const answers = exportAnswers(onnx, file.output, raw, width);
  const { nodes, tensors, inputs, outputs } = onnx;
  const bytes = encodeModel({
    name: name.trim() === '' ? 'model' : name,
    about: `${name}, trained with Trainyard (${file.learner}).`,
    nodes,
    tensors,
    inputs,
    outputs,
    metadata: {
      'trainyard.output': JSON.stringify(file.output),
      'trainyard.preprocessing': JSON.stringify(preprocessing),
    },
  });
  return { bytes, inputs, outputs, answers, opset };
}

function exportFeatures(onnx: OnnxBuilder, value: unknown): ValueName {
  if (isImagePreprocessing(value)) {
    const pixels: ImagePreprocessing = parseImagePreprocessing(value);
    return exportPixels(onnx, pixels);
  }
  const columns: Preprocessing = parsePreprocessing(value);
  return columns.form === 'columns' ? exportRawColumns(onnx, columns) : exportColumns(onnx, columns);
}
