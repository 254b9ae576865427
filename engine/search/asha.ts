// Early stopping by rank: asynchronous successive halving (Li et al., MLSys 2020) in the form that stops trials instead of pausing them. At
// each rung a trial goes on only if it is among the best third of all that came to this rung so far.

/** A trial goes on where it is among the best 1 / eta of its rung. */
export const eta = 3;

/** Rungs below the whole, rising: shares of the whole training of one fold up to 1, then whole folds. */
export function rungsOf(folds: number, units: number): readonly number[] {
  const rungs: number[] = [];
  for (let reach = folds / eta; ; reach /= eta) {
    const rung = reach >= 1 ? Math.round(reach) : reach;
    // At least one unit, a first third of one fold where even that is short.
    if (rung < 1 && Math.floor(rung * units) < leastUnits) break;
    if (!rungs.includes(rung) && rung < folds) rungs.unshift(rung);
    if (rungs.length === mostRungs) break;
  }
  return rungs;
}

/** Units of training, epochs or trees, before a trial may be stopped. */
const leastUnits = 2;
/** More of them would judge by so little training that quick learners always win. */
const mostRungs = 3;

/**
 * Whether a trial goes on. `others`: scores of the trials that came to the rung before it; less is better. The first one of a rung goes on:
 * there is nothing to be worse than.
 */
export function goesOn(score: number, others: readonly number[]): boolean {
  if (!Number.isFinite(score)) return false;
  if (others.length === 0) return true;
  const kept = Math.max(1, Math.floor((others.length + 1) / eta));
  return others.filter((other) => other < score).length < kept;
}
