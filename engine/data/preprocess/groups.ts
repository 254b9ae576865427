// Rows that belong together, and the folds they make: whole groups, so that no patient, machine or shop is tested that was learned from,
// with about as many rows of each class in every fold.

import { InputError } from '../../protocol/errors.ts';
import { randomBits } from './split.ts';

/** The rows of each group, and how many rows those are. A row without a group is a group of its own; `strata` < 0 are left out. */
export function groupsOf(
  keys: Float64Array,
  strata: Int32Array,
): { readonly groups: readonly (readonly number[])[]; readonly usable: number } {
  const groups = new Map<number, number[]>();
  let usable = 0;
  for (let row = 0; row < keys.length; row++) {
    if ((strata[row] ?? -1) < 0) continue;
    usable++;
    const key = Number.isNaN(keys[row]) ? -1 - row : (keys[row] as number);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [row]);
    else members.push(row);
  }
  return { groups: [...groups.values()], usable };
}

/** In an order drawn by the seed. Throws InputError `input.too_few_groups`. */
export function drawnGroups(
  groups: readonly (readonly number[])[],
  parts: number,
  seed: number,
  called: 'splits' | 'folds',
): readonly (readonly number[])[] {
  if (groups.length < parts) {
    throw new InputError(
      'input.too_few_groups',
      `${groups.length} ${groups.length === 1 ? 'group is' : 'groups are'} too few for ${parts} ${called}.`,
      'Choose another column, or another split.',
    );
  }
  const drawn = groups.map((rows) => ({ rows, order: randomBits(seed, rows[0] as number) }));
  return drawn.sort((one, other) => one.order - other.order).map(({ rows }) => rows);
}

/**
 * The fold of each row, from 1; 0 = left out. As scikit-learn's StratifiedGroupKFold with shuffling: the groups whose classes are spread
 * most unevenly first, each to the fold after which the shares of the classes differ least between the folds; of equal ones to that
 * with fewer rows. No fold stays empty.
 */
export function stratifiedFolds(keys: Float64Array, strata: Int32Array, of: number, seed: number): Int32Array {
  const drawn = drawnGroups(groupsOf(keys, strata).groups, of, seed, 'folds').map((rows) => {
    const counts = new Map<number, number>();
    for (const row of rows) counts.set(strata[row]!, (counts.get(strata[row]!) ?? 0) + 1);
    return { rows, counts };
  });
  const totals = new Map<number, number>();
  for (const { counts } of drawn)
    for (const [stratum, n] of counts) totals.set(stratum, (totals.get(stratum) ?? 0) + n);
  const K = totals.size;
  const unevenness = ({ counts }: (typeof drawn)[number]): number => {
    const [sum, squares] = [...counts.values()].reduce(([s, q], n) => [s + n, q + n * n], [0, 0]);
    // Of one class alone the largest group comes first.
    return K === 1 ? sum : squares / K - (sum / K) ** 2;
  };
  const ordered = drawn.map((group) => ({ ...group, unevenness: unevenness(group) }));
  ordered.sort((one, other) => other.unevenness - one.unevenness);
  const folds = Array.from({ length: of }, () => ({ rows: 0, shares: new Map<number, number>() }));
  const squares = new Map<number, number>([...totals.keys()].map((stratum) => [stratum, 0]));
  const placed = new Map<number, number>();
  const found = new Int32Array(keys.length);
  ordered.forEach(({ rows, counts }, index) => {
    const empty = folds.filter((fold) => fold.rows === 0);
    const candidates = empty.length >= ordered.length - index ? empty : folds;
    // Standard deviations over the folds, summed over the classes that this group changes.
    const after = candidates.map((fold) => {
      let deviations = 0;
      for (const [stratum, n] of counts) {
        const [share, before] = [n / totals.get(stratum)!, fold.shares.get(stratum) ?? 0];
        const mean = (placed.get(stratum) ?? 0) + share;
        const sum = squares.get(stratum)! + share * (share + 2 * before);
        deviations += Math.sqrt(Math.max(0, sum / of - (mean / of) ** 2));
      }
      return { fold, deviations };
    });
    const { fold } = after.reduce((best, other) => {
      const apart = other.deviations - best.deviations;
      if (Math.abs(apart) > 1e-12) return apart < 0 ? other : best;
      return other.fold.rows < best.fold.rows ? other : best;
    });
    for (const [stratum, n] of counts) {
      const [share, before] = [n / totals.get(stratum)!, fold.shares.get(stratum) ?? 0];
      squares.set(stratum, squares.get(stratum)! + share * (share + 2 * before));
      placed.set(stratum, (placed.get(stratum) ?? 0) + share);
      fold.shares.set(stratum, before + share);
    }
    fold.rows += rows.length;
    for (const row of rows) found[row] = folds.indexOf(fold) + 1;
  });
  return found;
}
