// What an ensemble, or a member of it, scores: on the rows it did not learn from as validation, on the test rows, and the file that tells it.

import type { PreparedData } from '../../protocol/data.ts';
import type { RunEvaluation } from '../../protocol/evaluation.ts';
import type { Metrics } from '../../protocol/runs.ts';
import { evaluate, type Evaluation } from '../../train/metrics.ts';
import { encodeText } from '../../train/safetensors.ts';
import { ofSplit } from '../../train/scores.ts';
import { plainLoss } from '../scoring.ts';
import { rawOf } from './trained.ts';

export interface Known {
  /** [rows, values] */
  readonly values: Float64Array;
  readonly targets: Float32Array;
}

export interface AutoScores {
  readonly metrics: Metrics;
  /** `evaluation.json` */
  readonly evaluation: Uint8Array;
}

/** `test`: null where those rows are not looked at. */
export function autoScores({ output }: PreparedData, step: number, outOfFold: Known, test: Known | null): AutoScores {
  const spec = { output, training: plainLoss, weights: null };
  const scored = ({ values, targets }: Known): Evaluation => evaluate(rawOf(output, values), targets, spec);
  const validation = scored(outOfFold);
  const unseen: Known = { values: new Float64Array(0), targets: new Float32Array(0) };
  const splits = { validation, test: scored(test ?? unseen) };
  const metrics = {
    ...ofSplit('validation', validation.metrics),
    ...(test ? ofSplit('test', splits.test.metrics) : {}),
  };
  // What the models say of rows they learned from is no score; how many of each class there are is told.
  const train: Evaluation = { ...splits.validation, metrics: {} };
  const evaluation: RunEvaluation = { epoch: step, final: true, bestEpoch: step, splits: { train, ...splits } };
  return { metrics, evaluation: encodeText(JSON.stringify(evaluation)) };
}
