// What the flat names of metric series mean: which split and which metric of engine/model/metrics.ts, and their words.
// `train_loss`, `val_accuracy`, `test_r2`, `learning_rate`, …

import { leadingMetrics, metricWords } from '../../engine/model/metrics.ts';

export { lowerIsBetter as lowerWins, metricWords as metricWord } from '../../engine/model/metrics.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import type { SplitName } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';

export interface SeriesName {
  readonly split: SplitName | null;
  readonly metric: string;
}

const splits: Readonly<Record<string, SplitName>> = { train: 'train', val: 'validation', test: 'test' };

export function parseSeries(name: string): SeriesName {
  const cut = name.indexOf('_');
  const split = cut > 0 ? ownValue(splits, name.slice(0, cut)) : undefined;
  return split ? { split, metric: name.slice(cut + 1) } : { split: null, metric: name };
}

/** `validation accuracy` */
export function seriesWord(name: string): string {
  const { split, metric } = parseSeries(name);
  return split ? `${split} ${metricWords(metric)}` : metricWords(metric);
}

/** Metrics (no loss) that a run has of its training or validation split, best known first. */
export function metricsOf(values: Readonly<Record<string, unknown>>): string[] {
  const found = new Set<string>();
  for (const name of Object.keys(values)) {
    const { split, metric } = parseSeries(name);
    if (split && split !== 'test' && metric !== 'loss') found.add(metric);
  }
  const rank = (metric: string): number => {
    const place = leadingMetrics.findIndex((name) => name === metric);
    return place < 0 ? leadingMetrics.length : place;
  };
  return [...found].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** The validation series a run is judged by: its leading metric, or the loss. */
export function leadingSeries(run: Pick<RunRecord, 'best'>): string {
  for (const metric of leadingMetrics) if (`val_${metric}` in run.best) return `val_${metric}`;
  return 'val_loss';
}
