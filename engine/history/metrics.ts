// Points of runs: appended as samples, summed up for the list of runs, read back thinned, dropped after a checkpoint.

import type { MetricPoint, RunResult } from '../protocol/runs.ts';
import type { Connection } from './database.ts';
import { readJson } from './readable.ts';
import { packValues, unpackValues } from './samples.ts';
import { createSeriesNumbers, lowestIsBest } from './series.ts';
import { GatheredPoints } from './gathered.ts';

/** Last and best value of one series of one run. */
export interface SeriesSummary {
  readonly series: string;
  readonly last: number;
  /** What the weights score that are kept (of a series without such: its best value); null: the series never had a finite value. */
  readonly best: { readonly value: number; readonly epoch: number } | null;
}

export interface MetricsTable {
  /** Within a transaction. */
  append(run: number, points: readonly MetricPoint[]): void;
  /** Whether the first moment of these points is there already. Within a transaction. */
  has(run: number, points: readonly MetricPoint[]): boolean;
  /** Series after series, each in the order of its steps, with one point a step. */
  read(run: number, selection: PointSelection): readonly MetricPoint[];
  /** Drops points after a step and sums the rest up again. Within a transaction. */
  truncate(run: number, afterStep: number): void;
  /** Gives a run the points of another up to a step. Within a transaction. */
  inherit(run: number, from: number, untilStep: number): void;
  /** Sums all points of a run up again. Within a transaction. */
  resum(run: number): void;
  /** Says of a run that has ended what the weights score that it keeps: its result does. Within a transaction. */
  keepScores(run: number): void;
  /** Of some series, or of all. */
  summaries(runs: readonly number[], series?: readonly string[]): ReadonlyMap<number, readonly SeriesSummary[]>;
  /** Number of a series for SQL that sorts by its summary; null if no run has it. */
  seriesNumber(name: string): number | null;
}

export interface PointSelection {
  readonly series?: readonly string[];
  /** At most so many points a series. */
  readonly limit?: number;
  readonly afterStep?: number;
}

interface SampleRow {
  readonly step: number;
  readonly epoch: number;
  readonly seconds: number;
  readonly data: Uint8Array;
}

const appendSample = 'INSERT INTO sample (run, step, epoch, seconds, data) VALUES (?, ?, ?, ?, ?)';
const inheritSamples = `
  INSERT INTO sample (run, step, epoch, seconds, data)
  SELECT @run, step, epoch, seconds, data FROM sample WHERE run = @from AND step <= @untilStep ORDER BY step, rowid`;
const findSample = 'SELECT 1 FROM sample WHERE run = ? AND step = ? AND epoch = ? AND seconds = ? AND data = ?';
export const readSamples =
  'SELECT step, epoch, seconds, data FROM sample WHERE run = ? AND step > ? ORDER BY step, rowid';
export const dropSamples = 'DELETE FROM sample WHERE run = ? AND step > ?';
const dropSummaries = 'DELETE FROM summary WHERE run = ?';

/** `better` is 1 where the highest value is best and -1 where the lowest is; NaN arrives as NULL and is never best. */
const updateSummary = `
  INSERT INTO summary (run, series, last, best, best_epoch) VALUES (@run, @series, @last, @best, @bestEpoch)
  ON CONFLICT (run, series) DO UPDATE SET
    last = excluded.last,
    best_epoch = CASE WHEN best IS NULL OR @better * excluded.best > @better * best THEN excluded.best_epoch ELSE best_epoch END,
    best = CASE WHEN best IS NULL OR @better * excluded.best > @better * best THEN excluded.best ELSE best END`;

/** The loss that decides which weights are kept; other scores of these rows are told of the same epoch, not each of its own best. */
const watchedLoss = 'val_loss';
const followsLoss = (series: string): boolean => series.startsWith('val_') && series !== watchedLoss;
const readBest = 'SELECT best_epoch FROM summary WHERE run = ? AND series = ?';
const setBest = 'UPDATE summary SET best = ?, best_epoch = ? WHERE run = ? AND series = ?';

const readResult = 'SELECT result FROM run WHERE id = ?';

export const readSummaries = `
  SELECT run, series.name AS series, last, best, best_epoch AS bestEpoch
  FROM json_each(@runs) AS wanted JOIN summary ON summary.run = wanted.value JOIN series ON series.id = summary.series
  WHERE @series IS NULL OR summary.series IN (SELECT value FROM json_each(@series))
  ORDER BY run, series`;

export function createMetricsTable(connection: Connection): MetricsTable {
  const numbers = createSeriesNumbers(connection);

  /** The epoch whose weights a run keeps so far: that of the least validation loss; null: it has none. */
  const keptEpoch = (run: number): number | null => {
    const loss = numbers.find(watchedLoss);
    if (loss === null) return null;
    return connection.sql<[number, number], { best_epoch: number | null }>(readBest).get(run, loss)?.best_epoch ?? null;
  };

  const sumUp = (run: number, points: readonly MetricPoint[]): void => {
    const put = ([series, { last, best }]: readonly [string, PointSummary]): void => {
      const values = { run, series: numbers.numberOf(series), last: last.value, better: lowestIsBest(series) ? -1 : 1 };
      connection.sql(updateSummary).run({ ...values, best: best?.value ?? null, bestEpoch: best?.epoch ?? null });
    };
    const summary = [...summarise(points)];
    summary.filter(([series]) => !followsLoss(series)).forEach(put);
    const kept = keptEpoch(run);
    for (const [series, all] of summary.filter(([series]) => followsLoss(series))) {
      const isKept = (point: MetricPoint): boolean => point.series === series && point.epoch === kept;
      const best = kept === null ? all.best : (points.findLast(isKept) ?? null);
      put([series, { ...all, best: kept === null ? best : null }]);
      if (kept === null || best === null || !Number.isFinite(best.value)) continue;
      connection.sql(setBest).run(best.value, best.epoch, run, numbers.numberOf(series));
    }
  };

  const read = (run: number, selection: PointSelection): readonly MetricPoint[] => {
    const wanted = selection.series && new Set(selection.series);
    const gathered = new GatheredPoints();
    const rows = connection.sql<[number, number], SampleRow>(readSamples);
    for (const { step, epoch, seconds, data } of rows.iterate(run, selection.afterStep ?? -1)) {
      gathered.moment(step, epoch, seconds);
      unpackValues(data, (number, value) => {
        const series = numbers.nameOf(number);
        if (!wanted || wanted.has(series)) gathered.add(series, value);
      });
    }
    return gathered.points(selection.limit ?? Infinity);
  };

  const keepScores = (run: number): void => {
    const text = connection.sql<[number], { result: string | null }>(readResult).get(run)?.result ?? null;
    const result = readJson('result', text) as RunResult | null;
    if (typeof result?.bestEpoch !== 'number') return;
    for (const [series, value] of Object.entries(result.metrics)) {
      const number = numbers.find(series);
      // A score that is no number is kept as null.
      if (number !== null && typeof value === 'number')
        connection.sql(setBest).run(value, result.bestEpoch, run, number);
    }
  };

  const resum = (run: number): void => {
    connection.sql(dropSummaries).run(run);
    sumUp(run, read(run, {}));
    keepScores(run);
  };

  const pack = (moment: readonly MetricPoint[]): Uint8Array =>
    packValues(moment.map(({ series, value }) => ({ series: numbers.numberOf(series), value })));

  return {
    read,
    has(run, points) {
      const [moment] = groupByMoment(points);
      if (moment === undefined) return false;
      const { step, epoch, seconds } = moment[0];
      return connection.sql(findSample).get(run, step, epoch, seconds, pack(moment)) !== undefined;
    },
    append(run, points) {
      for (const moment of groupByMoment(points)) {
        const { step, epoch, seconds } = moment[0];
        connection.sql(appendSample).run(run, step, epoch, seconds, pack(moment));
      }
      sumUp(run, points);
    },
    truncate(run, afterStep) {
      const dropped = connection.sql(dropSamples).run(run, afterStep);
      if (dropped.changes > 0) resum(run);
    },
    inherit(run, from, untilStep) {
      connection.sql(inheritSamples).run({ run, from, untilStep });
      resum(run);
    },
    resum,
    keepScores,
    summaries(runs, series) {
      const found = new Map<number, SeriesSummary[]>(runs.map((run) => [run, []]));
      const chosen = series?.map((name) => numbers.find(name)).filter((number) => number !== null);
      const parameters = { runs: JSON.stringify(runs), series: chosen === undefined ? null : JSON.stringify(chosen) };
      const rows = connection.sql<[object], SummaryRow>(readSummaries);
      for (const { run, series, last, best, bestEpoch } of rows.iterate(parameters)) {
        found.get(run)!.push({
          series,
          last: last ?? NaN,
          best: best === null || bestEpoch === null ? null : { value: best, epoch: bestEpoch },
        });
      }
      return found;
    },
    seriesNumber: (name) => numbers.find(name),
  };
}

interface SummaryRow {
  readonly run: number;
  readonly series: string;
  readonly last: number | null;
  readonly best: number | null;
  readonly bestEpoch: number | null;
}

/** Runs of consecutive points of the same step, epoch and second: the values of one sample. */
function groupByMoment(points: readonly MetricPoint[]): readonly (readonly MetricPoint[])[] {
  const moments: MetricPoint[][] = [];
  for (const point of points) {
    const moment = moments.at(-1);
    const first = moment?.[0];
    if (first && first.step === point.step && first.epoch === point.epoch && first.seconds === point.seconds) {
      moment.push(point);
    } else {
      moments.push([point]);
    }
  }
  return moments;
}

interface PointSummary {
  readonly last: MetricPoint;
  readonly best: MetricPoint | null;
}

function summarise(points: readonly MetricPoint[]): Map<string, PointSummary> {
  const summary = new Map<string, PointSummary>();
  for (const point of points) {
    const best = summary.get(point.series)?.best ?? null;
    summary.set(point.series, { last: point, best: betterOf(best, point) });
  }
  return summary;
}

/** The better of two points; of equal ones the earlier. */
function betterOf(best: MetricPoint | null, point: MetricPoint): MetricPoint | null {
  if (!Number.isFinite(point.value)) return best;
  if (best === null) return point;
  const better = lowestIsBest(point.series) ? point.value < best.value : point.value > best.value;
  return better ? point : best;
}
