// Area under the ROC curve by ranks (Mann & Whitney 1947), ties counted half. More than two classes: the mean of one
// against the rest over the classes that occur (Provost & Domingos 2000, unweighted).

/** `probabilities` [N,K], `targets` [N] class numbers. NaN when fewer than two classes occur. */
export function areaUnderRoc(probabilities: Float64Array, targets: Float32Array, classes: number): number {
  if (classes === 2) return oneAgainstRest(probabilities, targets, classes, 1);
  let sum = 0;
  let present = 0;
  for (let k = 0; k < classes; k++) {
    const area = oneAgainstRest(probabilities, targets, classes, k);
    if (Number.isNaN(area)) continue;
    sum += area;
    present++;
  }
  return present > 1 ? sum / present : NaN;
}

function oneAgainstRest(probabilities: Float64Array, targets: Float32Array, classes: number, positive: number): number {
  const count = targets.reduce((sum, target) => sum + (target === positive ? 1 : 0), 0);
  const positives = new Float64Array(count);
  const negatives = new Float64Array(targets.length - count);
  if (positives.length === 0 || negatives.length === 0) return NaN;
  let p = 0;
  let n = 0;
  targets.forEach((target, row) => {
    const score = probabilities[row * classes + positive];
    if (target === positive) positives[p++] = score;
    else negatives[n++] = score;
  });
  positives.sort();
  negatives.sort();
  // Positives in rising order beat every negative below them; the two cursors only move forward.
  let wins = 0;
  let below = 0;
  let upTo = 0;
  for (const score of positives) {
    while (below < negatives.length && negatives[below] < score) below++;
    upTo = Math.max(upTo, below);
    while (upTo < negatives.length && negatives[upTo] === score) upTo++;
    wins += (below + upTo) / 2;
  }
  return wins / (positives.length * negatives.length);
}
