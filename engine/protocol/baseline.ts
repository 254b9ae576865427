// What a run has to beat, in words that the window and the command line share.

import { visible } from './visible.ts';
import type { RunResult } from './runs.ts';

/** Scores of the weights kept that a run is judged by, the first one that is known of the constant guess too. */
const judgedBy = ['val_accuracy', 'val_r2', 'val_loss', 'train_accuracy', 'train_r2', 'train_loss'] as const;

export interface BaselineWords {
  /** Name of the score. */
  readonly series: string;
  /** `0.93, a linear model gets 0.91, always guessing “no” 0.62` */
  readonly text: string;
}

/** A run's score beside what it has to beat, figures through `write`; null where that is not known. */
export function baselineWords(
  { metrics, baseline }: Pick<RunResult, 'metrics' | 'baseline'>,
  write: (value: number) => string,
): BaselineWords | null {
  if (baseline === undefined) return null;
  const { linear, constant } = baseline;
  const series = judgedBy.find((name) => metrics[name] !== undefined && constant.metrics[name] !== undefined);
  if (series === undefined) return null;
  const { answer } = constant;
  const always = typeof answer === 'number' ? `the mean, ${write(answer)},` : `“${visible(answer)}”`;
  const parts = [
    write(metrics[series]),
    ...(linear ? [`a linear model gets ${write(linear.metrics[series])}`] : []),
    `always guessing ${always} ${linear ? '' : 'gets '}${write(constant.metrics[series])}`,
  ];
  return { series, text: parts.join(', ') };
}
