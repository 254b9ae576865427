// The rows of the compare table: settings (those that differ, or all), results, cost; which run has the best of each.

import { isCrossValidation } from '../../../engine/protocol/folds.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { duration, fixed, missing, score } from '../../lib/format.ts';
import { elapsedOf, rowsPerSecond, stateName, trainingSecondsOf } from '../../lib/run-words.ts';
import { lowerWins, metricWord, parseSeries } from '../../lib/series.ts';
import { everySettingOf } from '../../lib/run-settings.ts';

export interface CompareRow {
  readonly name: string;
  readonly values: readonly string[];
  /** Positions of the best value: all that have it. None where all values are the same. */
  readonly best?: readonly number[];
  /** Values equal to the first run's are of less interest. */
  readonly setting?: boolean;
}

/** Settings of all runs in reading order, those that one of them says something with; a run without one has a dash. */
export function settingRows(runs: readonly RunRecord[]): readonly CompareRow[] {
  const all = runs.map(everySettingOf);
  const said = new Set(all.flatMap((facts) => facts.flatMap(({ label, quiet }) => (quiet ? [] : [label]))));
  const names = [...new Set(all.flatMap((facts) => facts.map(({ label }) => label)))].filter((name) => said.has(name));
  const values = all.map((facts) => new Map(facts.map(({ label, value }) => [label, value])));
  return names.map((name) => ({ name, setting: true, values: values.map((known) => known.get(name) ?? missing) }));
}

export function differs(row: CompareRow): boolean {
  return row.values.some((value) => value !== row.values[0]);
}

/** Whether the runs learn the same: only then one score is better than another. */
export function comparable(runs: readonly RunRecord[]): boolean {
  const target = ({ config }: RunRecord): string | undefined => config.settings.target;
  return runs.every((run) => run.dataset === runs[0].dataset && target(run) === target(runs[0]));
}

function numberRow(
  name: string,
  values: readonly (number | null | undefined)[],
  lower: boolean,
  write: (value: number | null | undefined) => string,
): CompareRow {
  const best = bestPositions(values, lower);
  const finite = values.filter((value) => typeof value === 'number' && Number.isFinite(value));
  return { name, values: values.map((value) => write(value)), best: best.length < finite.length ? best : [] };
}

/** Positions of the lowest or highest value, all that have exactly it. */
export function bestPositions(values: readonly (number | null | undefined)[], lower: boolean): readonly number[] {
  const finite = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  const best = lower ? Math.min(...finite) : Math.max(...finite);
  return values.flatMap((value, position) => (value === best ? [position] : []));
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
        runs.map((run) => ownValue(run.best, series)?.value),
        lower,
        score,
      ),
    );
    rows.push({
      name: 'at epoch',
      values: runs.map((run) => {
        const best = ownValue(run.best, series);
        // Of a cross-validation it is the mean of its folds, of no epoch.
        return best && !isCrossValidation(run.config) ? fixed(Math.round(best.epoch)) : missing;
      }),
    });
    rows.push(
      numberRow(
        `Last validation ${word}`,
        runs.map((run) => ownValue(run.last, series)),
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
  const told = rows.filter((row) => row.values.some((value) => value !== missing));
  return comparable(runs) ? told : told.map((row) => ({ ...row, best: undefined }));
}

/** What the runs have to beat, by the scores compared; the figures are those of the weights that the runs keep. */
export function baselineRows(runs: readonly RunRecord[], metrics: readonly string[]): readonly CompareRow[] {
  const kinds = [
    ['linear', 'Linear model'],
    ['constant', 'Always the same answer'],
  ] as const;
  return metrics
    .flatMap((series) =>
      kinds.map(([kind, name]) => ({
        name: `${name}, ${metricWord(parseSeries(series).metric)}`,
        values: runs.map(({ result }) => score(ownValue(result?.baseline?.[kind]?.metrics ?? {}, series))),
      })),
    )
    .filter(({ values }) => values.some((value) => value !== missing));
}

export function costRows(runs: readonly RunRecord[]): readonly CompareRow[] {
  return [
    numberRow('Elapsed, without pauses', runs.map(elapsedOf), true, duration),
    numberRow('Training alone', runs.map(trainingSecondsOf), true, duration),
    numberRow('Training rows a second', runs.map(rowsPerSecond), false, fixed0),
    { name: 'Epochs', values: runs.map((run) => fixed(run.result?.epochs ?? run.progress?.epoch ?? null)) },
    { name: 'Ended', values: runs.map(endWord) },
  ];
}

const reasons = {
  completed: 'Completed',
  early_stopped: 'Stopped early',
  stopped: 'Stopped',
  diverged: 'Diverged',
} as const;

function endWord({ result, state }: RunRecord): string {
  return result ? reasons[result.reason] : stateName(state);
}

function fixed0(value: number | null | undefined): string {
  return fixed(value);
}
