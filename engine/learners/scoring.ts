// What a learner has kept, scored on each split: metrics, the files that tell how good it is, and whether that can be believed.

import type { SplitName } from '../protocol/data.ts';
import type { MetricPoint, Metrics } from '../protocol/runs.ts';
import { constantLoss, doubtOf } from '../train/doubt.ts';
import { EvaluationFiles, type EvaluatedSplit } from '../train/evaluation-files.ts';
import { evaluate, type EvaluationSpec } from '../train/metrics.ts';
import { ofSplit, splitRange } from '../train/scores.ts';
import type { LearnerJob, RawOutputs } from './learner.ts';

/** The loss of learners that have no choice of one: that of their task, without smoothing. */
export const plainLoss = { loss: 'auto', labelSmoothing: 0, huberDelta: 1 } as const;

export interface Scored {
  readonly metrics: Metrics;
  /** Why they cannot be believed; null = no reason for doubt. */
  readonly doubt: string | null;
  /** Those that make curves, for whoever counts a way. */
  readonly points: readonly Pick<MetricPoint, 'series' | 'value'>[];
}

/**
 * Scores all splits and hands over the files. `outputs`: of the rows `start` … `end` − 1; `step` and `best` count the way there
 * and the part of it whose model is kept.
 */
export function scoreSplits(
  { data, events, surroundings }: Pick<LearnerJob, 'data' | 'events' | 'surroundings'>,
  evaluation: EvaluationSpec,
  { step, best }: { readonly step: number; readonly best: number },
  outputs: (start: number, end: number) => RawOutputs,
): Scored {
  const splits: Record<SplitName, EvaluatedSplit | null> = { train: null, validation: null, test: null };
  let metrics: Metrics = {};
  for (const split of ['train', 'validation', 'test'] as const) {
    const { start, end } = splitRange(data, split);
    if (start === end) continue;
    const raw = outputs(start, end);
    splits[split] = { ...raw, evaluation: evaluate(raw.outputs, raw.targets, evaluation) };
    metrics = { ...metrics, ...ofSplit(split, splits[split].evaluation.metrics) };
  }
  new EvaluationFiles({ data, clock: surroundings.clock, onFile: events.onFile }).final(step, best, splits);
  const points = Object.entries(metrics)
    .filter(([series]) => series.startsWith('val_') || series === 'train_loss')
    .map(([series, value]) => ({ series, value }));
  const doubt = splits.validation && doubtIn(splits.validation, evaluation, metrics);
  return { metrics, points, doubt };
}

function doubtIn({ outputs, targets }: EvaluatedSplit, evaluation: EvaluationSpec, metrics: Metrics): string | null {
  const constant = constantLoss(targets, evaluation, outputs.length / targets.length);
  return doubtOf({ train: metrics['train_loss'] ?? NaN, validation: metrics['val_loss'] ?? NaN, constant });
}
