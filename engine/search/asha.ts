// Early stopping by rank: asynchronous successive halving (Li et al., MLSys 2020) in the form that stops trials instead of pausing them. At
// each rung a trial goes on only if it is among the better half of all that came to this rung so far.

/** A trial goes on where it is among the best 1 / eta of its rung. Thirds leave the whole search's best behind more often than they save. */
export const eta = 2;

/** Rungs below the whole, rising: parts of the first fold, then whole folds. `units`: of a whole training of one fold. */
export function rungsOf(folds: number, units: number): readonly number[] {
  const rungs: number[] = [];
  for (let reach = folds / eta; Math.round(reach) >= 1; reach /= eta) {
    const rung = Math.round(reach);
    if (rung < folds && !rungs.includes(rung)) rungs.unshift(rung);
  }
  const least = folds > 1 ? 1 / 4 : 1 / 8;
  for (let rung = 1 / eta; rung >= least && Math.floor(rung * units) >= leastUnits; rung /= eta) rungs.unshift(rung);
  return rungs;
}

/** Epochs or trees before a trial may be stopped: fewer say nothing of where its loss is heading. */
const leastUnits = 4;

/** After how many of a fold's units a rung below 1 is reached, and the place halfway there. */
export function placesOf(rung: number, units: number): { readonly here: number; readonly halfway: number } {
  const here = Math.max(1, Math.floor(rung * units));
  return { here, halfway: Math.ceil(here / 2) };
}

/**
 * What the loss of a fold comes to as far as a rung below 1 shows: on the way slow learners, which are often the best at the end, lie behind.
 * What the last doubling of the steps gained, each doubling up to the whole is taken to gain half of.
 */
export function forecastLoss(rung: number, loss: number, lossHalfway: number): number {
  const gained = lossHalfway - loss;
  return gained > 0 && Number.isFinite(gained) ? loss - 0.5 * Math.log2(1 / rung) * gained : loss;
}

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
