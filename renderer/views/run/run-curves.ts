// From the series of a run to the curves of its charts: which colour, dash and marker each has.

import { ownValue } from '../../../engine/protocol/own.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { metricWord, lowerWins, parseSeries } from '../../lib/series.ts';

export { metricLimits as limitsOf } from '../../../engine/model/metrics.ts';
import type { Curve } from '../../components/chart/curves.ts';
import type { Series } from './run.svelte.ts';

const outOfBag = 'oob_loss';

/**
 * Curves of one metric: the training and the validation split, or the single series of that name. The best point is the one the run's
 * record names, by series: that of the weights kept, which the loss decides, and not of each metric its own.
 */
export function curvesOf(metric: string, series: ReadonlyMap<string, Series>, named: RunRecord['best'] = {}): Curve[] {
  const curves: Curve[] = [];
  const epochs = series.get(`train_${metric}`);
  // The loss is also kept within epochs: noisy, so it is smoothed and its range shows as a band.
  const steps = metric === 'loss' ? series.get('step_loss') : undefined;
  const noisy = steps !== undefined && steps.step.length > (epochs?.step.length ?? 0);
  const train = noisy ? steps : epochs;
  const validation = series.get(`val_${metric}`);
  const single = series.get(metric);
  if (train)
    curves.push({
      id: 'train',
      label: 'train',
      token: 'train',
      dash: [],
      x: train.epoch,
      y: train.value,
      noisy,
      // A step's loss says little: told is that of the last epoch, as everywhere else.
      last: noisy ? epochs?.value.at(-1) : undefined,
    });
  if (validation) {
    curves.push({
      id: 'validation',
      label: 'validation',
      token: 'validation',
      dash: [6, 3],
      width: 2,
      x: validation.epoch,
      y: validation.value,
      best: markedIndex(validation, ownValue(named, `val_${metric}`)?.epoch, lowerWins(metric)),
    });
  }
  // What a forest's trees say of the training rows that each of them has not seen.
  const outside = metric === 'loss' ? series.get(outOfBag) : undefined;
  if (outside) {
    const { epoch: x, value: y } = outside;
    curves.push({
      id: outOfBag,
      label: 'out of bag',
      token: 'test',
      dash: [2, 3],
      width: 2,
      x,
      y,
      best: bestIndex(y, true),
    });
  }
  if (single)
    curves.push({ id: metric, label: metricWord(metric), token: 'test', dash: [], x: single.epoch, y: single.value });
  return curves;
}

/**
 * Position of the point of an epoch, or of the lowest or highest value where none is named or it is still to come. A long curve is thinned,
 * each by its own values: where the epoch is not in it, the next point stands for it.
 */
export function markedIndex({ epoch, value }: Series, named: number | undefined, lower: boolean): number | undefined {
  const at = named === undefined ? -1 : epoch.findIndex((one) => one >= named);
  return at === -1 ? bestIndex(value, lower) : at;
}

/** Position of the lowest or highest value; undefined with fewer than two. */
function bestIndex(values: readonly number[], lower: boolean): number | undefined {
  if (values.length < 2) return undefined;
  let best = 0;
  values.forEach((value, i) => {
    if (lower ? value < values[best] : value > values[best]) best = i;
  });
  return best;
}

/** Metrics other than the loss that have a series, the given ones first. */
export function otherMetrics(series: ReadonlyMap<string, Series>, first: readonly string[]): string[] {
  const found = new Set(first);
  for (const name of series.keys()) {
    const { split, metric } = parseSeries(name);
    if (metric !== 'loss' && metric !== 'step_loss' && metric !== outOfBag && split !== 'test') found.add(metric);
  }
  return [...found].filter((metric) => ['train_', 'val_', ''].some((prefix) => series.has(prefix + metric)));
}
