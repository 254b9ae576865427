// What the flat names of metric series mean: which split, which metric, which way is better, and their words.
// `train_loss`, `val_accuracy`, `test_r2`, `learning_rate`, …

import { ownValue } from '../../engine/protocol/own.ts';
import type { SplitName } from '../../engine/protocol/data.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';

export interface SeriesName {
  readonly split: SplitName | null;
  readonly metric: string;
}

const splits: Readonly<Record<string, SplitName>> = { train: 'train', val: 'validation', test: 'test' };

const words: Readonly<Record<string, string>> = {
  loss: 'loss',
  accuracy: 'accuracy',
  balanced_accuracy: 'balanced accuracy',
  f1: 'F1',
  macro_f1: 'macro F1',
  roc_auc: 'ROC AUC',
  auc: 'ROC AUC',
  r2: 'R²',
  mae: 'mean absolute error',
  rmse: 'root mean square error',
  learning_rate: 'learning rate',
  gradient_norm: 'gradient norm',
};

const lowerIsBetter: ReadonlySet<string> = new Set(['loss', 'mae', 'rmse', 'mse']);
/** Metrics a run is judged by, the first present one leads. */
const leading: readonly string[] = ['accuracy', 'r2', 'balanced_accuracy', 'f1', 'roc_auc', 'mae', 'rmse'];

export function parseSeries(name: string): SeriesName {
  const cut = name.indexOf('_');
  const split = cut > 0 ? ownValue(splits, name.slice(0, cut)) : undefined;
  return split ? { split, metric: name.slice(cut + 1) } : { split: null, metric: name };
}

export function metricWord(metric: string): string {
  return ownValue(words, metric) ?? metric.replaceAll('_', ' ');
}

/** `validation accuracy` */
export function seriesWord(name: string): string {
  const { split, metric } = parseSeries(name);
  return split ? `${split} ${metricWord(metric)}` : metricWord(metric);
}

export function lowerWins(metric: string): boolean {
  return lowerIsBetter.has(metric);
}

/** Metrics (no loss) that a run has of its training or validation split, best known first. */
export function metricsOf(values: Readonly<Record<string, unknown>>): string[] {
  const found = new Set<string>();
  for (const name of Object.keys(values)) {
    const { split, metric } = parseSeries(name);
    if (split && split !== 'test' && metric !== 'loss') found.add(metric);
  }
  const rank = (metric: string): number => (leading.includes(metric) ? leading.indexOf(metric) : leading.length);
  return [...found].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** The validation series a run is judged by: its leading metric, or the loss. */
export function leadingSeries(run: Pick<RunRecord, 'best'>): string {
  for (const metric of leading) if (`val_${metric}` in run.best) return `val_${metric}`;
  return 'val_loss';
}
