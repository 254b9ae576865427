// The rows of the compare table: settings (those that differ, or all), results, cost; which run has the best of each.

import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { duration, fixed, missing, score, sentence } from '../../app/format.ts';
import { examplesPerSecond, secondsOf } from '../../app/run-words.ts';
import { lowerWins, metricWord, parseSeries } from '../../app/series.ts';
import { settingsOf } from './settings.ts';

export interface CompareRow {
  readonly name: string;
  readonly values: readonly string[];
  /** Position of the best value; undefined where there is no better. */
  readonly best?: number;
  /** Values equal to the first run's are of less interest. */
  readonly setting?: boolean;
}

/** Settings of all runs in reading order; a run without one has a dash. */
export function settingRows(runs: readonly RunRecord[]): readonly CompareRow[] {
  const all = runs.map((run) => new Map(settingsOf(run)));
  const names = [...new Set(all.flatMap((settings) => [...settings.keys()]))];
  return names.map((name) => ({ name, setting: true, values: all.map((settings) => settings.get(name) ?? missing) }));
}

export function differs(row: CompareRow): boolean {
  return row.values.some((value) => value !== row.values[0]);
}

function numberRow(
  name: string,
  values: readonly (number | null | undefined)[],
  lower: boolean,
  write: (value: number | null | undefined) => string,
): CompareRow {
  let best: number | undefined;
  values.forEach((value, index) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return;
    const leader = best === undefined ? undefined : values[best];
    if (typeof leader !== 'number' || (lower ? value < leader : value > leader)) best = index;
  });
  const distinct = new Set(values.filter((value) => typeof value === 'number').map(write));
  return { name, values: values.map(write), best: distinct.size > 1 ? best : undefined };
}

/** Best and last validation values of a score, the loss, and the gap between the splits. */
export function resultRows(
  runs: readonly RunRecord[],
  metrics: readonly string[],
  withTest: boolean,
): readonly CompareRow[] {
  const rows: CompareRow[] = [];
  for (const series of [...metrics, 'val_loss']) {
    const { metric } = parseSeries(series);
    const lower = lowerWins(metric);
    const word = metricWord(metric);
    rows.push(
      numberRow(
        `Best validation ${word}`,
        runs.map((run) => run.best[series]?.value),
        lower,
        score,
      ),
    );
    rows.push({
      name: 'at epoch',
      values: runs.map((run) => (run.best[series] ? fixed(Math.round(run.best[series].epoch)) : missing)),
    });
    rows.push(
      numberRow(
        `Last validation ${word}`,
        runs.map((run) => run.last[series]),
        lower,
        score,
      ),
    );
    if (withTest)
      rows.push(
        numberRow(
          `Test ${word}`,
          runs.map((run) => run.result?.metrics[`test_${metric}`]),
          lower,
          score,
        ),
      );
  }
  const gap = (run: RunRecord): number | undefined => {
    const [train, validation] = [run.last['train_loss'], run.last['val_loss']];
    return train === undefined || validation === undefined ? undefined : validation - train;
  };
  rows.push({ name: 'Validation − train loss, last', values: runs.map((run) => score(gap(run))) });
  return rows.filter((row) => row.values.some((value) => value !== missing));
}

export function costRows(runs: readonly RunRecord[]): readonly CompareRow[] {
  return [
    numberRow('Training time', runs.map(secondsOf), true, duration),
    numberRow('Rows a second', runs.map(examplesPerSecond), false, fixed0),
    { name: 'Epochs', values: runs.map((run) => fixed(run.result?.epochs ?? run.progress?.epoch ?? null)) },
    { name: 'Ended', values: runs.map((run) => sentence(run.result?.reason.replaceAll('_', ' ') ?? run.state)) },
  ];
}

function fixed0(value: number | null | undefined): string {
  return fixed(value);
}
