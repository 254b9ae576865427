// The rows of a tree's leaves: one list, in which each leaf has a range. A split sorts its range into two, in place and stable.

import type { ColumnBins } from './bins.ts';
import type { BinnedRows } from './rows.ts';
import type { Split } from './split.ts';
import { masksOf } from './tree.ts';

export class RowLists {
  /** Row numbers, leaf by leaf. */
  readonly list: Uint32Array;
  readonly #spare: Uint32Array;

  constructor(list: Uint32Array) {
    this.list = list;
    this.#spare = new Uint32Array(list.length);
  }

  /** Sorts the range [from, to) by a split, those that go left first; returns where the right ones begin. */
  split(
    { bins, width }: BinnedRows,
    { kind, bins: missing }: ColumnBins,
    split: Pick<Split, 'column' | 'cut' | 'set' | 'missingLeft'>,
    from: number,
    to: number,
  ): number {
    const { list } = this;
    const spare = this.#spare;
    const goesLeft = new Uint8Array(256);
    if (split.set) {
      const masks = masksOf([split.set]);
      for (let bin = 0; bin < 256; bin++) goesLeft[bin] = (masks[bin >> 5] >>> (bin & 31)) & 1;
    } else {
      goesLeft.fill(1, 0, split.cut + 1);
      goesLeft[missing] = split.missingLeft ? 1 : 0;
    }
    if (kind === 'number' && split.set) throw new RangeError('numbers are split by a cut');
    let left = from;
    let right = 0;
    for (let i = from; i < to; i++) {
      const row = list[i];
      // Both are written, one of them counts: no branch to be guessed.
      const goes = goesLeft[bins[row * width + split.column]];
      list[left] = row;
      spare[right] = row;
      left += goes;
      right += 1 - goes;
    }
    list.set(spare.subarray(0, right), left);
    return left;
  }
}
