// What is shown of the scores of folds.

import { leadingMetrics } from '../../../../engine/model/metrics.ts';
import type { Metrics } from '../../../../engine/protocol/runs.ts';

/** The scores on the test split that all folds have: `test_accuracy`, …, the leading one first. */
export function foldMetrics(folds: readonly Metrics[]): readonly string[] {
  if (folds.length === 0) return [];
  return [...leadingMetrics, 'loss']
    .map((metric) => `test_${metric}`)
    .filter((name) => folds.every((metrics) => Object.hasOwn(metrics, name)));
}
