// An ensemble: its models, those of each member's folds, in one graph over the same columns, and the weighted mean of what they say, in float64
// and in the order in which it is added up here (learners/auto/trained.ts). N rows, K classes.

import type { AutoModelFile } from '../../learners/auto/file.ts';
import { leastProbability } from '../../learners/auto/selection.ts';
import { modelsOf, unitsOf } from '../../learners/auto/trained.ts';
import { otherLearners } from '../../learners/predict.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { Weights } from '../../train/weights.ts';
import { ofTwo } from './answers.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';

/** `recipe`: the preprocessing the model was fitted with, where that is its own. */
type MemberRule = (
  member: ModelFile,
  weights: Weights,
  recipe: object | undefined,
) => { readonly raw: ValueName; readonly width: number };

/** Adds the models, each by `rule`; gives the raw outputs that a model with their mean would have: [N,1] or [N,K]. */
export function exportEnsemble(onnx: OnnxBuilder, file: AutoModelFile, weights: Weights, rule: MemberRule): ValueName {
  let sum: ValueName | null = null;
  for (const { prefix, tensors, trained, weight, folds, recipe } of modelsOf(file, weights, otherLearners)) {
    const { raw, width } = onnx.within(prefix, () => rule(trained.file, tensors, recipe));
    const said = inUnitsOf(onnx, file.output, trained.file.output, onnx.cast(raw, 'double'));
    const share = onnx.one('Mul', [meaning(onnx, file.output, said, width), onnx.double([weight / folds])]);
    sum = sum === null ? share : onnx.one('Add', [sum, share]);
  }
  if (sum === null) throw new RangeError('an ensemble has members');
  return onnx.cast(rawOf(onnx, file.output, sum), 'float');
}

/** Numbers that a model has standardised in its own way, as the ensemble does. */
function inUnitsOf(onnx: OnnxBuilder, output: OutputSpec, own: OutputSpec, raw: ValueName): ValueName {
  const { factor, shift } = unitsOf(output, own);
  if (factor === 1 && shift === 0) return raw;
  return onnx.one('Add', [onnx.one('Mul', [raw, onnx.double([factor])]), onnx.double([shift])]);
}

/** What a model says as values that can be averaged: `meaningOf` of learners/auto/trained.ts. */
function meaning(onnx: OnnxBuilder, output: OutputSpec, raw: ValueName, width: number): ValueName {
  if (output.kind === 'value') return raw;
  return width === 1 ? ofTwo(onnx, raw) : onnx.one('Softmax', [raw], { axis: { int: 1 } });
}

/** The way back. */
function rawOf(onnx: OnnxBuilder, output: OutputSpec, values: ValueName): ValueName {
  if (output.kind === 'value') return values;
  const bounded = onnx.one('Max', [values, onnx.double([leastProbability])]);
  if (output.classes.length > 2) return onnx.one('Log', [bounded]);
  const of = (k: number): ValueName => onnx.one('Gather', [bounded, onnx.int64([k])], { axis: { int: 1 } });
  return onnx.one('Log', [onnx.one('Div', [of(1), of(0)])]);
}
