// Early stopping by rank: asynchronous successive halving (Li et al., MLSys 2020). At each rung a trial goes on if it is among the best
// of all that came to this rung so far; one that was stopped goes on later, once enough worse ones have come to its rung.

/** Of those that came to a rung, one of so many goes on: early ones are cheap, and of many. */
const etaOf = (rung: number): number => (rung < 1 / 2 ? 4 : 2);

/**
 * Rungs below the whole, rising: an eighth of the first fold, or more if that is too little to tell, then one fold and half of them; where one part
 * is held out, half of its training. `units`: of a whole training of one fold.
 */
export function rungsOf(folds: number, units: number): readonly number[] {
  const least = [1 / 8, 1 / 4, 1 / 2].filter((rung) => Math.floor(rung * units) >= leastUnits).slice(0, 1);
  const within = folds === 1 && least[0] < 1 / 2 ? [...least, 1 / 2] : least;
  const whole = [...new Set([1, Math.round(folds / 2)])].filter((rung) => rung < folds);
  return [...within, ...whole];
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

/** Whether a trial goes on past a rung. `others`: what the others that came there scored; less is better. */
export function goesOn(rung: number, score: number, others: readonly number[]): boolean {
  if (!Number.isFinite(score)) return false;
  return others.filter((other) => other < score).length < Math.floor((others.length + 1) / etaOf(rung));
}
