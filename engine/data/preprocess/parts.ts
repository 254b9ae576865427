// The parts of the training rows that validate in turn, for who trains several models on the same rows: each part is predicted by models
// that did not learn from it. Rows drawn by chance, group by group, or the latest in the order of time.

import { InputError } from '../../protocol/errors.ts';
import type { SplitBy } from '../../protocol/data.ts';
import { assignGroups, assignInOrder } from './ordered-split.ts';
import { membersOf, shuffle } from './split.ts';

/** Share of the rows that validates where there is but one part. */
const held = 0.2;
/** Values of the outputs of all rows up to which there are so many parts: more cost more than they tell. */
const usual = [
  { cells: 30_000, parts: 5 },
  { cells: 100_000, parts: 3 },
] as const;

/** How many parts pay for so many rows: several below some ten thousand, else one that is held out. `outputs`: scores a row. */
export function usualParts(rows: number, outputs: number): number {
  return usual.find(({ cells }) => rows * outputs <= cells)?.parts ?? 1;
}

export interface Parting {
  /** Class of each row (0 for all of a number); −1 = it is no training row. */
  readonly strata: Int32Array;
  readonly classes: number;
  /** The row that each is a copy of; null = there are none. */
  readonly copies: Int32Array | null;
  /** What the split goes by, and its value in each row. */
  readonly by?: { readonly kind: SplitBy['kind']; readonly column: string; readonly keys: Float64Array };
  readonly parts: number;
  readonly seed: number;
}

/**
 * The part of each row from 1; 0 = it only ever trains.
 * @throws InputError `input.too_few_groups`, `input.too_few_times` where nothing could be held out.
 */
export function partRows({ strata, classes, copies, by, parts, seed }: Parting): Uint8Array {
  if (by?.kind === 'time') return latest(by.keys, strata, by.column);
  if (by?.kind === 'group') return wholeGroups(by.keys, strata, parts, seed, by.column);
  const alone = copies ? strata.map((stratum, row) => (copies[row] === row ? stratum : -1)) : strata;
  const dealt = dealOut(alone, classes, parts, seed);
  if (copies === null) return dealt;
  // A copy of a row of another split goes its own way: that split is not here.
  return dealt.map((part, row) => ((strata[row] ?? -1) < 0 ? 0 : (dealt[copies[row] as number] ?? part)));
}

/** The rows of each class one after the other; a class of one row is always learned from. */
function dealOut(strata: Int32Array, classes: number, parts: number, seed: number): Uint8Array {
  const found = new Uint8Array(strata.length);
  let dealt = 0;
  for (const rows of membersOf(strata, classes)) {
    if (rows.length < 2) continue;
    shuffle(rows, seed);
    const among = parts > 1 ? parts : Math.round(1 / held);
    for (const row of rows) {
      const part = 1 + (dealt++ % among);
      found[row] = part <= parts ? part : 0;
    }
  }
  return found;
}

function wholeGroups(keys: Float64Array, strata: Int32Array, parts: number, seed: number, column: string): Uint8Array {
  const groups = new Set<number>();
  for (let row = 0; row < keys.length && groups.size < parts + 1; row++) {
    if ((strata[row] ?? -1) >= 0) groups.add(Number.isNaN(keys[row]) ? -1 - row : (keys[row] as number));
  }
  if (groups.size < 2) {
    throw new InputError(
      'input.too_few_groups',
      `All rows to learn from are of one group of ${column}: none can be held out to validate.`,
      'Choose another column, or split by chance.',
    );
  }
  const count = Math.min(parts, groups.size);
  const shares = count > 1 ? new Array<number>(count).fill(1 / count) : [1 - held, held];
  const assigned = assignGroups(keys, strata, shares, seed, 'folds');
  return assigned.map((split, row) => ((strata[row] ?? -1) < 0 ? 0 : count > 1 ? split + 1 : split));
}

/** One part: models are judged on what comes after what they learned from. */
function latest(times: Float64Array, strata: Int32Array, column: string): Uint8Array {
  const assigned = assignInOrder(times, strata, [1 - held, held, 0]);
  const found = assigned.map((split) => (split === 1 ? 1 : 0));
  if (found.includes(1) && assigned.includes(0)) return found;
  throw new InputError(
    'input.too_few_times',
    `All rows to learn from have the same ${column}: none can be held out to validate.`,
    'Choose another column, or split by chance.',
  );
}
