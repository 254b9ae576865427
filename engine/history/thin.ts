// Thinning a curve for drawing: each bucket of points gives its lowest and its highest, so that no spike is lost.

/**
 * Of `length` values in order the places of at most `limit` (but never fewer than 2 of at least 2), in order, the first and the last
 * among them. Where a bucket holds a value that is not finite, the first of those takes the place of its highest: a curve that
 * blew up has to show it.
 */
export function thinned(length: number, valueAt: (index: number) => number, limit: number): number[] {
  if (length <= Math.max(limit, 2)) return Array.from({ length }, (_, index) => index);
  const inner = length - 2;
  const buckets = Math.max(0, Math.floor((limit - 2) / 2));
  const kept = [0];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = 1 + Math.floor((bucket * inner) / buckets);
    const end = 1 + Math.floor(((bucket + 1) * inner) / buckets);
    kept.push(...extremes(valueAt, start, end));
  }
  kept.push(length - 1);
  return kept;
}

/** The places of one or two of the values [start, end), in order. */
function extremes(valueAt: (index: number) => number, start: number, end: number): number[] {
  let lowest = start;
  let highest = start;
  for (let index = start; index < end; index++) {
    const value = valueAt(index);
    if (!Number.isFinite(value)) {
      highest = index;
      break;
    }
    if (value < valueAt(lowest)) lowest = index;
    if (value > valueAt(highest)) highest = index;
  }
  if (lowest === highest) return [lowest];
  return lowest < highest ? [lowest, highest] : [highest, lowest];
}
