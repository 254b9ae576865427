// The folds of a cross-validation: each row that can be used is in one fold, and that fold is the test split once. The other rows train
// and validate as their shares are to each other. The folds follow from the seed and the rows alone.

import type { Fold } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import { assignSplits, membersOf, shuffle } from './split.ts';

export type Shares = readonly [train: number, validation: number, test: number];

/** The shares of what is not tested. */
export function sharesOfRest([train, validation]: Shares): Shares {
  return [train / (train + validation), validation / (train + validation), 0];
}

/** The shares of all rows that one fold has for its splits. */
export function sharesOfFold(shares: Shares, fold: Fold | undefined): Shares {
  if (fold === undefined) return shares;
  const [train, validation] = sharesOfRest(shares);
  const rest = 1 - 1 / fold.of;
  return [train * rest, validation * rest, 1 / fold.of];
}

/** What a row is in its own fold: see `assignSplits`. */
const tested = 2;

/** Splits of a fold: `isTested` are its rows, `rest` shares out the others, for which alone `strata` are at least 0. */
export function splitsOfFold(
  strata: Int32Array,
  isTested: (row: number) => boolean,
  rest: (strata: Int32Array) => Uint8Array,
): Uint8Array {
  const inFold = strata.map((stratum, row) => Number(stratum >= 0 && isTested(row)));
  const splits = rest(strata.map((stratum, row) => (inFold[row] === 1 ? -1 : stratum)));
  return splits.map((split, row) => (inFold[row] === 1 ? tested : split));
}

/**
 * Rows drawn by chance, the rows of each class dealt out to the folds one after the other: of a class no fold has more than one row above
 * another, nor of all of them. `strata` as in `assignSplits`; `named` are the names of the classes, null for a number.
 * @throws InputError `input.too_few_for_folds` where a class has fewer rows than there are folds.
 */
export function assignFold(
  strata: Int32Array,
  named: readonly string[] | null,
  shares: Shares,
  seed: number,
  { number, of }: Fold,
): Uint8Array {
  const classes = named?.length ?? 1;
  const folds = new Int32Array(strata.length);
  let dealt = 0;
  membersOf(strata, classes).forEach((rows, stratum) => {
    if (rows.length < of && (rows.length > 0 || named === null)) {
      throw tooFew(rows.length, of, named && (named[stratum] as string));
    }
    shuffle(rows, seed);
    for (const row of rows) folds[row] = 1 + (dealt++ % of);
  });
  return splitsOfFold(
    strata,
    (row) => folds[row] === number,
    (rest) => assignSplits(rest, classes, sharesOfRest(shares), seed),
  );
}

function tooFew(rows: number, of: number, name: string | null): InputError {
  const has = `${rows} different ${rows === 1 ? 'row' : 'rows'}`;
  return new InputError(
    'input.too_few_for_folds',
    name === null ? `${has} are too few for ${of} folds.` : `The class “${name}” has ${has}: too few for ${of} folds.`,
    rows < 2 ? 'Train without folds, or add rows.' : `Take ${rows} folds at most, or add rows.`,
  );
}
