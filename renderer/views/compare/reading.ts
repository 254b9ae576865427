// One sentence of reading: which run is best and by how much, what it differs in from the next, which one overfits. Runs that
// learn different things have no best.

import { ownValue } from '../../../engine/protocol/own.ts';
import { fixed, score } from '../../lib/format.ts';
import { lowerWins, metricWord, parseSeries } from '../../lib/series.ts';
import type { ComparedRun, Comparison } from './compare.svelte.ts';
import { comparable, differs, settingRows } from './table-rows.ts';

/** Rise of the validation loss over its lowest that is called overfitting. */
const overfitRise = 0.1;

export function readComparison(comparison: Comparison, series: string): string {
  const scored = comparison.runs.filter(({ run }) => series in run.best);
  if (scored.length < 2) return 'Fewer than two of these runs have a value of this metric.';
  if (!comparable(scored.map(({ run }) => run))) {
    const [first] = scored;
    const other = scored.find(({ run }) => !comparable([first.run, run])) ?? first;
    const what = first.run.dataset === other.run.dataset ? 'predict different targets' : 'use different datasets';
    const said = `${first.letter} and ${other.letter} ${what}: their scores cannot be compared.`;
    return [said, difference(first, other), ...overfitting(comparison)].join(' ');
  }
  const { metric } = parseSeries(series);
  const sign = lowerWins(metric) ? 1 : -1;
  const valueOf = ({ run }: ComparedRun): number => ownValue(run.best, series)?.value ?? NaN;
  const ranked = [...scored].sort((a, b) => sign * (valueOf(a) - valueOf(b)));
  const best = valueOf(ranked[0]);
  const leaders = ranked.filter((entry) => valueOf(entry) === best);
  const [first, second] = ranked;
  const lead =
    leaders.length > 1
      ? `${inWords(leaders.map(({ letter }) => letter))} share the best ${metricWord(metric)}, ${score(best)}.`
      : `${first.letter} has the best ${metricWord(metric)}: ${score(best)}, ${score(Math.abs(best - valueOf(second)))} ahead of ${second.letter}.`;
  // Of many that share it, no pair stands out.
  const pair = leaders.length > 2 ? '' : difference(first, second);
  return [lead, pair, ...overfitting(comparison)].filter(Boolean).join(' ');
}

/** `A, B and C` */
export function inWords(letters: readonly string[]): string {
  return `${letters.slice(0, -1).join(', ')} and ${letters.at(-1)}`;
}

function difference(first: ComparedRun, second: ComparedRun): string {
  const names = settingRows([first.run, second.run])
    .filter(differs)
    .map(({ name }) => name.toLowerCase());
  const pair = `${first.letter} and ${second.letter}`;
  if (names.length === 0) return `${pair} have the same settings.`;
  if (names.length === 1) return `${pair} differ in ${names[0]} alone.`;
  return names.length <= 3
    ? `${pair} differ in ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`
    : `${pair} differ in ${fixed(names.length)} settings.`;
}

function overfitting(comparison: Comparison): string[] {
  const overfit = comparison.runs.flatMap(({ run, letter }) => {
    const best = run.best['val_loss'];
    const last = comparison.series(run.id, 'val_loss')?.value.at(-1);
    return best && last !== undefined && last > best.value * (1 + overfitRise) ? [{ letter, best, last }] : [];
  });
  if (overfit.length === 0) return [];
  if (overfit.length > 1) {
    return [
      `${inWords(overfit.map(({ letter }) => letter))} overfit: their validation loss ends well above its lowest.`,
    ];
  }
  const [{ letter, best, last }] = overfit;
  return [
    `${letter} overfits from epoch ${fixed(Math.round(best.epoch))}: its validation loss climbs from ${score(best.value)} to ${score(last)}.`,
  ];
}
