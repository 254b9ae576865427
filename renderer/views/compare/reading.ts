// One sentence of reading: which run is best and by how much, what it differs in from the next, which one overfits.

import { fixed, score } from '../../app/format.ts';
import { lowerWins, metricWord, parseSeries } from '../../app/series.ts';
import type { ComparedRun, Comparison } from './compare.svelte.ts';
import { settingsOf } from './settings.ts';

/** Rise of the validation loss over its lowest that is called overfitting. */
const overfitRise = 0.1;

export function readComparison(comparison: Comparison, series: string): string {
  const scored = comparison.runs.filter(({ run }) => series in run.best);
  if (scored.length < 2) return 'Fewer than two of these runs have a value of this metric.';
  const { metric } = parseSeries(series);
  const sign = lowerWins(metric) ? 1 : -1;
  const ranked = [...scored].sort((a, b) => sign * (a.run.best[series].value - b.run.best[series].value));
  const [first, second] = ranked;
  const values = [first, second].map(({ run }) => run.best[series].value);
  const lead =
    values[0] === values[1]
      ? `${first.letter} and ${second.letter} share the best ${metricWord(metric)}, ${score(values[0])}.`
      : `${first.letter} has the best ${metricWord(metric)}: ${score(values[0])}, ${score(Math.abs(values[0] - values[1]))} ahead of ${second.letter}.`;
  return [lead, difference(first, second), ...overfitting(comparison)].filter(Boolean).join(' ');
}

function difference(first: ComparedRun, second: ComparedRun): string {
  const other = new Map(settingsOf(second.run));
  // The count of parameters follows from the layers and the preset's name from them: not settings of their own.
  const derived = new Set(['Parameters', 'Model']);
  const names = settingsOf(first.run)
    .filter(([name, value]) => !derived.has(name) && other.get(name) !== value)
    .map(([name]) => name.toLowerCase());
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
    const letters = overfit.map(({ letter }) => letter);
    return [
      `${letters.slice(0, -1).join(', ')} and ${letters.at(-1)} overfit: their validation loss ends well above its lowest.`,
    ];
  }
  const [{ letter, best, last }] = overfit;
  return [
    `${letter} overfits from epoch ${fixed(Math.round(best.epoch))}: its validation loss climbs from ${score(best.value)} to ${score(last)}.`,
  ];
}
