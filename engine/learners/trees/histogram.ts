// Histograms of a leaf: for each bin of each column the sums of the gradients and hessians of its rows, and how many they are.
// All three are sums of few bits each (gradients.ts), so they are exact.

import type { BinnedRows } from './rows.ts';
import type { ColumnBins } from './bins.ts';
import type { Gradients } from './gradients.ts';

/** Numbers of a bin: gradient, hessian, rows. */
export const entries = 3;

/** Where the bins of each column stand in a histogram: bin b of column c at `starts[c] + b`; the last is their number. */
export function binStarts(columns: readonly ColumnBins[]): Int32Array {
  const starts = new Int32Array(columns.length + 1);
  columns.forEach(({ bins }, column) => (starts[column + 1] = starts[column] + bins + 1));
  return starts;
}

/** Updates between two looks at messages. */
const updates = 4_000_000;

/** Adds the rows `list[from … to)` to `histogram` [bins, 3], of the columns in `chosen`. */
export function* addRows(
  histogram: Float64Array,
  { bins, width }: Pick<BinnedRows, 'bins' | 'width'>,
  starts: Int32Array,
  chosen: Int32Array,
  { gradient, hessian }: Gradients,
  list: Uint32Array,
  from: number,
  to: number,
): Generator<void, void, void> {
  const block = Math.max(1, Math.floor(updates / chosen.length));
  for (let start = from; start < to; start += block) {
    if (start > from) yield;
    addBlock(histogram, bins, width, starts, chosen, gradient, hessian, list, start, Math.min(to, start + block));
  }
}

function addBlock(
  histogram: Float64Array,
  bins: Uint8Array,
  width: number,
  starts: Int32Array,
  chosen: Int32Array,
  gradient: Float64Array,
  hessian: Float64Array,
  list: Uint32Array,
  from: number,
  to: number,
): void {
  const columns = chosen.length;
  const places = Int32Array.from(chosen, (column) => entries * starts[column]);
  let i = from;
  // Two rows at a time: what one writes the other seldom waits for.
  for (; i + 1 < to; i += 2) {
    const [one, other] = [list[i], list[i + 1]];
    const [g, h, g2, h2] = [gradient[one], hessian[one], gradient[other], hessian[other]];
    const [base, base2] = [one * width, other * width];
    for (let j = 0; j < columns; j++) {
      const column = chosen[j];
      const place = places[j];
      const at = place + entries * bins[base + column];
      histogram[at] += g;
      histogram[at + 1] += h;
      histogram[at + 2] += 1;
      const at2 = place + entries * bins[base2 + column];
      histogram[at2] += g2;
      histogram[at2 + 1] += h2;
      histogram[at2 + 2] += 1;
    }
  }
  for (; i < to; i++) {
    const row = list[i];
    for (let j = 0; j < columns; j++) {
      const at = places[j] + entries * bins[row * width + chosen[j]];
      histogram[at] += gradient[row];
      histogram[at + 1] += hessian[row];
      histogram[at + 2] += 1;
    }
  }
}

/** parent − child, in place of the parent: the child's sibling. */
export function subtract(parent: Float64Array, child: Float64Array): void {
  for (let i = 0; i < parent.length; i++) parent[i] -= child[i];
}
