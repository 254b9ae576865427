// A histogram of numbers, and their median, which is looked for among those of the bins in the middle.

import { medianOf } from '../preprocess/median.ts';

const bins = 20;

/**
 * How many values lie in each bin between two limits, which hold them all, and their median (null of none). An upper edge belongs
 * to its bin; the last is the maximum itself, so that rounding loses no value. Where a range is too small for all edges there are
 * fewer bins.
 */
export function drawNumbers(
  values: Float64Array,
  minimum: number,
  maximum: number,
): { readonly counts: readonly number[]; readonly median: number | null } {
  const found = new Set<number>();
  for (let bin = 1; bin < bins; bin++) found.add(minimum + ((maximum - minimum) * bin) / bins);
  const edges = Float64Array.from(found.add(maximum));
  const counts = new Uint32Array(edges.length);
  const binOf = new Uint8Array(values.length);
  const range = maximum - minimum || 1;
  const last = edges.length - 1;
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    // Rounding may lead to a bin beside its own. A range of tiny numbers has no reciprocal: it is divided by.
    const place = ((value - minimum) / range) * edges.length;
    let bin = place > 1 ? Math.min(last, Math.ceil(place) - 1) : 0;
    while (bin > 0 && value <= edges[bin - 1]) bin--;
    while (bin < last && value > edges[bin]) bin++;
    binOf[row] = bin;
    counts[bin]++;
  }
  return { counts: [...counts], median: values.length === 0 ? null : medianWithin(values, binOf, counts) };
}

/** The median of values whose bins, and what each of these holds, are known. */
function medianWithin(values: Float64Array, binOf: Uint8Array, counts: Uint32Array): number {
  const [before, middle] = [Math.floor((values.length - 1) / 2), Math.floor(values.length / 2)];
  let [first, below] = [0, 0];
  while (below + counts[first] <= before) below += counts[first++];
  let [end, held] = [first, 0];
  while (below + held <= middle) held += counts[end++];
  const around = new Float64Array(held);
  let next = 0;
  for (let row = 0; row < values.length; row++) {
    if (binOf[row] >= first && binOf[row] < end) around[next++] = values[row];
  }
  return medianOf(around, { all: values.length, below });
}
