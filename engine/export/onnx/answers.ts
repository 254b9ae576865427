// What comes out: probabilities that sum to 1 and the likeliest class by its name, or a value in the target's unit.

import type { OutputSpec } from '../../model/spec.ts';
import { anyRows, type OnnxBuilder, type ValueName } from './builder.ts';

/** Names of the outputs, in order. */
export interface AnswerNames {
  readonly answer: string;
  /** Null for numbers. */
  readonly probabilities: string | null;
}

/** Classes that a description names at most. */
const mostNamed = 1_000;

/** Adds the outputs. `raw`: [N,1] a logit or a standardised value, or [N,K] logits. */
export function exportAnswers(onnx: OnnxBuilder, output: OutputSpec, raw: ValueName, width: number): AnswerNames {
  if (output.kind === 'value') {
    const scaled = onnx.one('Mul', [onnx.cast(raw, 'double'), onnx.double([output.scale])]);
    const value = onnx.one('Add', [scaled, onnx.double([output.offset])]);
    const answer = onnx.output(value, {
      name: 'prediction',
      type: 'double',
      shape: [anyRows, 1],
      about: `${output.name}, in its unit`,
    });
    return { answer, probabilities: null };
  }
  const { classes } = output;
  const names =
    classes.length > mostNamed ? `${classes.length} classes, numbered as the labels are` : classes.join(', ');
  const shares = width === 1 ? ofTwo(onnx, raw) : onnx.one('Softmax', [raw], { axis: { int: 1 } });
  const best = likeliest(onnx, raw, width);
  const label = onnx.one('Gather', [onnx.strings(classes), best], { axis: { int: 0 } });
  const answer = onnx.output(label, { name: 'label', type: 'string', shape: [anyRows], about: 'the likeliest class' });
  const probabilities = onnx.output(shares, {
    name: 'probabilities',
    type: 'float',
    shape: [anyRows, classes.length],
    about: `of ${names}, in this order; they sum to 1`,
  });
  return { answer, probabilities };
}

/** Logit from which on a share and the rest of 1 differ in float64, in which the run compares them. */
const least = 1.5 * 2 ** -53;

/** Number of the likeliest class [N], of equal ones the first: by logits, since shares of float32 may be the same where they are not. */
function likeliest(onnx: OnnxBuilder, raw: ValueName, width: number): ValueName {
  if (width > 1) return onnx.one('ArgMax', [raw], { axis: { int: 1 }, keepdims: { int: 0 } });
  const second = onnx.cast(onnx.one('Greater', [raw, onnx.float([least])]), 'int64');
  return onnx.one('Squeeze', [second, onnx.int64([1])]);
}

/** [1 − p, p] of one logit. */
export function ofTwo(onnx: OnnxBuilder, logit: ValueName): ValueName {
  const sides = onnx.one('Concat', [onnx.one('Neg', [logit]), logit], { axis: { int: 1 } });
  return onnx.one('Sigmoid', [sides]);
}

/** The outputs that only a language model has, which others write by: what it thinks of each token as the next, and the likeliest one by its number. */
export function exportNext(onnx: OnnxBuilder, raw: ValueName, tokens: number): void {
  const about = 'of each token as the one that follows the last of the row, before softmax';
  onnx.output(onnx.one('Identity', [raw]), { name: 'logits', type: 'float', shape: [anyRows, tokens], about });
  const next = { name: 'next', type: 'int64', shape: [anyRows], about: 'id of the likeliest of them' } as const;
  onnx.output(likeliest(onnx, raw, tokens), next);
}
