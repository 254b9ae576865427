// How much better the best of many looks than it is: chosen by the rows it is scored on, it has had their luck. The bias of the least error
// of a cross-validation by Tibshirani and Tibshirani (Annals of Applied Statistics 3, 2009): in each part, what the one that is best of all
// loses there beside the one that is best there. N trials, K parts.

/** `losses`: [N][K] mean losses of the parts. 0 where there are no two trials or parts. */
export function optimism(losses: readonly (readonly number[])[]): number {
  const parts = losses[0]?.length ?? 0;
  if (losses.length < 2 || parts < 2) return 0;
  const mean = (of: readonly number[]): number => of.reduce((sum, loss) => sum + loss, 0) / of.length;
  const best = losses.reduce((least, own) => (mean(own) < mean(least) ? own : least));
  const behind = best.map((loss, part) => loss - losses.reduce((least, own) => Math.min(least, own[part]), Infinity));
  return mean(behind);
}
