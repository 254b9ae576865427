// The metrics of a split as one registry: function, which way is better, words, limits. A model's scores, its lists, its best values
// and its charts all read this table; a new metric is a line here. The loss is among them, though its value is the loss's own.

import { areaUnderRoc } from './roc.ts';
import type { Task } from './spec.ts';

/** What the metrics of a classifier are made from. N rows, K classes. */
export interface ClassResults {
  /** Rows of class i that were taken for class j. */
  readonly confusion: readonly (readonly number[])[];
  /** [N,K] */
  readonly probabilities: Float64Array;
  readonly targets: Float32Array;
}

/** Sums over the rows that the metrics of a model of numbers are made from; errors are standardised, `scale` is the unit. */
export interface ValueResults {
  readonly rows: number;
  readonly scale: number;
  readonly squares: number;
  readonly absolutes: number;
  /** Σ (target − mean)² */
  readonly variance: number;
}

interface Metric {
  readonly words: string;
  readonly better: 'lower' | 'higher';
  /** Between what values it can lie. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of a classifier; NaN where it does not exist. */
  readonly ofClasses?: (results: ClassResults) => number;
  /** Of a model of numbers, in the target's unit. */
  readonly ofValues?: (results: ValueResults) => number;
}

const share = { better: 'higher', minimum: 0, maximum: 1 } as const;
const error = { better: 'lower', minimum: 0 } as const;

export const metrics = {
  loss: { words: 'loss', ...error },
  accuracy: {
    words: 'accuracy',
    ...share,
    ofClasses: ({ confusion, targets }) => confusion.reduce((sum, counts, k) => sum + counts[k], 0) / targets.length,
  },
  // The mean recall of the classes that occur.
  balanced_accuracy: {
    words: 'balanced accuracy',
    ...share,
    ofClasses: ({ confusion }) => overClasses(confusion, (hits, rows) => hits / rows),
  },
  // The mean over the classes that occur.
  f1: {
    words: 'F1 (macro)',
    ...share,
    ofClasses: ({ confusion }) => overClasses(confusion, (hits, rows, predicted) => (2 * hits) / (rows + predicted)),
  },
  roc_auc: {
    words: 'ROC AUC',
    ...share,
    ofClasses: ({ probabilities, targets, confusion }) => areaUnderRoc(probabilities, targets, confusion.length),
  },
  // Of language models: what the loss per token comes to for each byte of the text, whatever the tokens are, and e to its power.
  bits_per_byte: { words: 'bits per byte', ...error },
  perplexity: { words: 'perplexity', better: 'lower', minimum: 1 },
  mae: {
    words: 'mean absolute error',
    ...error,
    ofValues: ({ scale, absolutes, rows }) => (scale * absolutes) / rows,
  },
  rmse: {
    words: 'root mean square error',
    ...error,
    ofValues: ({ scale, squares, rows }) => scale * Math.sqrt(squares / rows),
  },
  r2: {
    words: 'R²',
    better: 'higher',
    maximum: 1,
    ofValues: ({ squares, variance }) => (variance > 0 ? 1 - squares / variance : NaN),
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof metrics;

const usualFirst: readonly MetricName[] = ['accuracy', 'r2', 'bits_per_byte'];

/** What a run is judged by: the first of these that it has, else the loss. */
export const leadingMetrics: readonly MetricName[] = [
  ...usualFirst,
  ...(Object.keys(metrics) as MetricName[]).filter((name) => name !== 'loss' && !usualFirst.includes(name)),
];

/** The leading metric of a task: what is expected of a run before it has one. */
export const usualMetric = (task: Task): MetricName =>
  (({ classification: 'accuracy', regression: 'r2', language: 'bits_per_byte' }) as const)[task];

/** Series of a run that are no metric of a split. */
const otherSeries: Readonly<Record<string, Metric>> = {
  learning_rate: { words: 'learning rate', better: 'higher', minimum: 0 },
  gradient_norm: { words: 'gradient norm', better: 'higher' },
  step_loss: { words: 'step loss', better: 'lower' },
  loss_scale: { words: 'loss scale', better: 'higher', minimum: 0 },
  skipped_steps: { words: 'skipped steps', better: 'lower', minimum: 0 },
};

const known: ReadonlyMap<string, Metric> = new Map([...Object.entries(metrics), ...Object.entries(otherSeries)]);

/** The words of a metric or another series, without its split. */
export const metricWords = (name: string): string => known.get(name)?.words ?? name.replaceAll('_', ' ');

/** Whether the lowest value of a metric is its best. Of names this table does not know, losses and errors are. */
export const lowerIsBetter = (name: string): boolean =>
  known.has(name) ? known.get(name)!.better === 'lower' : /(^|_)(loss|error|mse)$/.test(name);

/** Between what values a metric can lie, as far as that is known. */
export function metricLimits(name: string): { readonly minimum?: number; readonly maximum?: number } {
  const { minimum, maximum } = known.get(name) ?? {};
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

/** Metrics of a classifier but for the loss; those that do not exist for these rows are left out. */
export const classMetrics = (results: ClassResults): Readonly<Record<string, number>> =>
  present((metric) => metric.ofClasses?.(results));

/** Metrics of a model of numbers but for the loss. */
export const valueMetrics = (results: ValueResults): Readonly<Record<string, number>> =>
  present((metric) => metric.ofValues?.(results));

function present(valueOf: (metric: Metric) => number | undefined): Readonly<Record<string, number>> {
  const found = Object.entries<Metric>(metrics).map(([name, metric]) => [name, valueOf(metric)] as const);
  return Object.fromEntries(found.filter((entry): entry is [string, number] => !Number.isNaN(entry[1] ?? NaN)));
}

/** The mean of a score over the classes that occur. */
function overClasses(
  confusion: readonly (readonly number[])[],
  score: (hits: number, rows: number, predicted: number) => number,
): number {
  let sum = 0;
  let classes = 0;
  confusion.forEach((counts, k) => {
    const rows = counts.reduce((total, count) => total + count, 0);
    if (rows === 0) return;
    const predicted = confusion.reduce((total, row) => total + row[k], 0);
    sum += score(counts[k], rows, predicted);
    classes++;
  });
  return sum / classes;
}
