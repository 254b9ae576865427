// The charts of a run's page, in order. A line here is a chart: its curves, words, limits, export and table follow from the metrics
// it shows (engine/model/metrics.ts). All are against epochs, with one hairline and one zoom.

import { usualMetric } from '../../../engine/model/metrics.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { metricsOf } from '../../lib/series.ts';
import { curvesOf, otherMetrics } from './run-curves.ts';
import type { Series } from './run.svelte.ts';

/** What charts are made from. */
export interface Charted {
  readonly run: Pick<RunRecord, 'config' | 'best'>;
  readonly series: ReadonlyMap<string, Series>;
}

export interface RunChart {
  /** Unlike that of any other chart. */
  readonly id: string;
  /** The metrics or other series it can show of a run, the usual one first: of several a person chooses. */
  readonly metrics: (of: Charted) => readonly string[];
  /** What that choice is called. */
  readonly choice?: string;
  /** It is there before the first value is; others are where there are values for them. */
  readonly always?: boolean;
  /** Offers a logarithmic axis. */
  readonly scalable?: boolean;
  /** Offers to smooth curves of many points. */
  readonly smoothable?: boolean;
}

export const runCharts: readonly RunChart[] = [
  { id: 'loss', metrics: () => ['loss'], always: true, scalable: true, smoothable: true },
  { id: 'metric', metrics: metricsToChoose, choice: 'Metric', always: true },
];

/** The metrics a run has; until there are any, the one expected of its task. */
function metricsToChoose({ run, series }: Charted): readonly string[] {
  const found = otherMetrics(series, metricsOf(run.best));
  return found.length > 0 ? found : [usualMetric(run.config.settings.task ?? 'classification')];
}

/** A chart and what it can show of a run. */
export interface ShownChart {
  readonly chart: RunChart;
  readonly metrics: readonly string[];
}

/** The charts that a run has on its page. */
export function chartsOf(of: Charted): readonly ShownChart[] {
  return runCharts.flatMap((chart) => {
    const all = chart.metrics(of);
    const metrics = chart.always ? all : all.filter((metric) => curvesOf(metric, of.series).length > 0);
    return metrics.length > 0 ? [{ chart, metrics }] : [];
  });
}

/** How many stand side by side: up to three, more in two lines. */
export const chartsInLine = (count: number): number => (count <= 3 ? count : Math.ceil(count / 2));
