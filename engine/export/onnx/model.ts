// A run's model as one ONNX file: a file's columns or pixels in, answers out, everything between as the run had it. Written for
// opset 20, the number of rows left open.

import { crossedMember, cutsTextsApart } from '../../learners/auto/file.ts';
import { predictsTokens } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import { exportAnswers, exportNext, type AnswerNames } from './answers.ts';
import { OnnxBuilder } from './builder.ts';
import { Features } from './features.ts';
import { ruleOf } from './learners.ts';
import { noTexts } from '../refusal.ts';
import { refuseTooLarge } from './size.ts';
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

/** What learned, and of a cross-validation of how many folds it is the mean. */
function learnerText(file: ModelFile): string {
  const crossed = crossedMember(file);
  return crossed ? `${crossed.learner}, the mean of ${crossed.models.length} folds` : file.learner;
}

/** @throws TrainyardError `run.export` where ONNX has no words for it or it is too large, `input.preprocessing`, `model.weights`. */
export function exportOnnx({ name, file, weights, preprocessing }: Exportable): OnnxExport {
  refuseTooLarge(file);
  if (cutsTextsApart(file)) throw noTexts(file);
  const onnx = new OnnxBuilder();
  const features = Features.open(onnx, preprocessing);
  const { raw, width } = ruleOf(file)(onnx, file, weights, features);
  const answers = exportAnswers(onnx, file.output, raw, width);
  if (predictsTokens(file.input)) exportNext(onnx, raw, width);
  const { nodes, tensors, inputs, outputs } = onnx;
  const bytes = encodeModel({
    name: name.trim() === '' ? 'model' : name,
    about: `${name}, trained with Trainyard (${learnerText(file)}).`,
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
