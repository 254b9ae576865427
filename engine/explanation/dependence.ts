// Partial dependence (Friedman 2001) with the curves of single rows (Goldstein et al. 2015): one raw column takes one value after the
// other in every row drawn, the others stay. R rows, G values.

import type { RawColumn } from '../model/spec.ts';
import type { Dependence } from '../protocol/explanation.ts';
import { drawnRows, oneAnswer, someRows, type Answer, type Subject } from './subject.ts';

const seed = 31;
/** Rows whose mean is taken, rows that are drawn, values of a number and of a category, ticks. */
const [averaged, drawn, mostNumbers, mostCategories, mostTicks] = [400, 40, 24, 12, 400];

export async function partialDependence(
  whole: Subject,
  answer: Answer,
  column: number,
  wanted: number | null,
): Promise<Dependence> {
  const subject = someRows(whole, drawnRows(whole.truth.length, averaged, seed));
  const R = subject.truth.length;
  const values = gridOf(whole.columns[column], whole.values[column]);
  const G = values.length;
  const asked = subject.values.map((own, at) => {
    const repeated = new Float64Array(R * G);
    for (let row = 0; row < R; row++) {
      for (let g = 0; g < G; g++) repeated[row * G + g] = at === column ? values[g] : own[row];
    }
    return repeated;
  });
  const answers = await oneAnswer(subject, answer, wanted, asked, R * G);
  const mean = new Float64Array(G);
  for (let row = 0; row < R; row++) for (let g = 0; g < G; g++) mean[g] += answers[row * G + g] / R;
  const shown = drawnRows(R, drawn, seed);
  const curves = new Float64Array(shown.length * G);
  shown.forEach((row, at) => curves.set(answers.subarray(row * G, (row + 1) * G), at * G));
  const ticks = drawnRows(whole.truth.length, mostTicks, seed);
  return {
    column,
    values,
    mean,
    curves,
    sources: Uint32Array.from(shown, (row) => subject.sources[row]),
    ticks: Float64Array.from(ticks, (row) => whole.values[column][row]),
  };
}

/** Values a column is set to: those a category has most often; of numbers all, or the ends and even shares of the rows between. */
export function gridOf({ kind }: Pick<RawColumn, 'kind'>, values: Float64Array): Float64Array {
  if (kind === 'category') {
    const counts = new Map<number, number>();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const often = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    return Float64Array.from(often.slice(0, mostCategories), ([value]) => value);
  }
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  const distinct = Float64Array.from(new Set(sorted));
  if (distinct.length <= mostNumbers) return distinct;
  const places = Array.from({ length: mostNumbers }, (_, i) =>
    Math.round((i * (sorted.length - 1)) / (mostNumbers - 1)),
  );
  return Float64Array.from(new Set(places.map((place) => sorted[place])));
}
