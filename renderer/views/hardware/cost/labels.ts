// Names beside marks, as many as have room: the weightiest first, each right, left, above or below its mark, none over another.

import { sentence } from '../../../lib/format.ts';
import { textWidth } from '../../../components/measure.ts';

interface Wanted {
  readonly row: { readonly id: string };
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly weight: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Label {
  readonly id: string;
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly strong: boolean;
}

/** Below this weight a name waits for its row to be chosen. */
const leastWeight = 2;
const mark = 6;
const height = 13;

export function placeLabels(wanted: readonly Wanted[], plot: Box): readonly Label[] {
  const taken: Box[] = wanted.map(({ left, top }) => ({
    left: left - 4,
    right: left + 4,
    top: top - 4,
    bottom: top + 4,
  }));
  const placed: Label[] = [];
  const heavy = wanted.filter(({ weight }) => weight >= leastWeight).toSorted((a, b) => b.weight - a.weight);
  for (const { row, text, left, top, weight } of heavy) {
    const strong = weight >= 4;
    const width = textWidth(sentence(text), 11, strong ? 600 : 400) + 2;
    const places: readonly Box[] = [
      [left + mark, top - height / 2],
      [left - mark - width, top - height / 2],
      [left - width / 2, top - mark - height],
      [left - width / 2, top + mark],
      [left + mark, top - height - 2],
      [left - mark - width, top - height - 2],
      [left - mark - width, top + 3],
      [left - width / 2, top + mark + height],
      [left - width / 2, top - mark - 2 * height],
      [left + mark, top + 1],
    ].map(([x, y]) => ({ left: x, right: x + width, top: y, bottom: y + height }));
    const free = places.find(
      (box) =>
        box.left >= plot.left &&
        box.right <= plot.right &&
        box.top >= plot.top &&
        box.bottom <= plot.bottom &&
        !taken.some(
          (other) =>
            box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom,
        ),
    );
    if (!free) continue;
    taken.push(free);
    placed.push({ id: row.id, text, left: free.left, top: free.bottom - 3, strong });
  }
  return placed;
}
