// What a run did, in words for the command line: `show`, `compare` and the end of `train`.

import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { metricWords } from '../../engine/model/metrics.ts';
import { baselineWords } from '../../engine/protocol/baseline.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { splitOrigin, splitRule, usualSplit } from '../../engine/protocol/use.ts';
import { foldsOf } from '../../engine/runs/cross-validation.ts';
import { counted, formatCount, formatNumber, formatSeconds, type Output } from './output.ts';

/** `val accuracy 0.93, a linear model gets 0.91, always guessing “no” 0.62`; null where that is not known. */
export function againstText({ result }: RunRecord): string | null {
  const words = result && baselineWords(result, formatNumber);
  return words && `${words.series.replace('_', ' ')} ${words.text}`;
}

/** `100 epochs`, or `55 of 100 epochs` of a run that ended before its time. */
export function epochsText({ result, config }: RunRecord): string {
  const { unit, units } = declarationOf(config);
  // How many a run had that was to be done by a time, its plan says.
  const [done, all] = [result?.epochs ?? 0, result?.deadline ? result.epochs : units(config)];
  const inWords = (count: number): string => (count === 1 ? unit.one : unit.many);
  return done < all ? `${done} of ${all} ${inWords(all)}` : `${done} ${inWords(done)}`;
}

/** `12 of 100 epochs, 300 steps`, or what the learner has to say. */
export function workText(run: RunRecord): string {
  const { folds } = run.result ?? {};
  if (folds) return `${folds.folds.filter(({ problem }) => problem === null).length} of ${counted(folds.of, 'fold')}`;
  return run.result?.remark ?? `${epochsText(run)}, ${formatCount(run.result?.steps ?? 0)} steps`;
}

/** The run of each fold of a cross-validation. */
export async function foldNumbers(store: StoreService, run: number): Promise<ReadonlyMap<number, number>> {
  return new Map([...(await foldsOf(store, run))].map(([fold, { id }]) => [fold, id]));
}

/** Whether several models answer together. */
export const isEnsemble = ({ result, relation }: RunRecord): boolean =>
  result?.leaderboard !== undefined || relation === 'member';

/** Which weights are kept. */
export function keptText(run: RunRecord): string {
  const { result, config } = run;
  if (isEnsemble(run)) return 'its scores:';
  if (result?.folds) return 'means over the folds:';
  const { curves, unit } = declarationOf(config);
  if (result?.divergence && result.bestEpoch === 0) return 'no weights are kept';
  return `${curves ? `the weights of ${unit.one} ${result?.bestEpoch ?? 0}` : 'the weights'} are kept, their scores:`;
}

/** What a run took: all of it, and the training alone with its speed. */
export function timesText({ progress, result }: RunRecord): string {
  // What has no steps has no rate.
  const rate = result?.examplesPerSecond ? `, ${formatCount(result.examplesPerSecond)} training rows/s` : '';
  const training = result ? ` (training ${formatSeconds(result.seconds)}${rate})` : '';
  return progress ? `${formatSeconds(progress.secondsElapsed)} without pauses${training}` : training.trim();
}

/** How many rows train, validate and test, and what says so. */
export function splitText({ data, config }: RunRecord): string {
  if (data === null) return `${(config.settings.split ?? usualSplit).join(', ')} asked for`;
  const { train, validation, test } = data.counts;
  const { folds } = config;
  const origin = [splitRule(config.settings), splitOrigin(data)].filter((text) => text !== '').join('; ');
  return (
    (folds === undefined ? '' : `${counted(folds, 'fold')}, of the first `) +
    `${counted(train, 'row')} train, ${formatCount(validation)} validate, ${formatCount(test)} test` +
    (origin === '' ? '' : `; ${origin}`)
  );
}

/** A table with a row a metric and a column a split; nothing where there are none. */
export function printMetrics(output: Output, metrics: Readonly<Record<string, number>>): void {
  const names = [...new Set(Object.keys(metrics).map((name) => name.replace(/^(train|val|test)_/, '')))];
  if (names.length === 0) return;
  output.table(names, [
    { title: '  metric', value: (name) => `  ${metricWords(name)}` },
    ...['train', 'val', 'test'].map((split) => ({
      title: split,
      value: (name: string) => formatNumber(ownValue(metrics, `${split}_${name}`)),
      right: true,
    })),
  ]);
}
