// Thinning a curve for drawing: each bucket of points gives its lowest and its highest, so that no spike is lost. Buckets are even in steps:
// a curve that was thinned, has grown and is thinned again keeps as much of its beginning as of its end.

/**
 * Of `length` points, whose steps ascend, the places of at most `limit` (but never fewer than 2 of at least 2), in order, the first and
 * the last among them. Where a bucket holds a value that is not finite, the first of those takes the place of its highest: a curve that
 * blew up has to show it.
 */
export function thinCurve(
  length: number,
  stepAt: (index: number) => number,
  valueAt: (index: number) => number,
  limit: number,
): number[] {
  if (length <= Math.max(limit, 2)) return Array.from({ length }, (_, index) => index);
  const buckets = Math.max(0, Math.floor((limit - 2) / 2));
  const last = length - 1;
  const [first, range] = [stepAt(0), stepAt(last) - stepAt(0)];
  const kept = [0];
  let start = 1;
  for (let bucket = 1; bucket <= buckets; bucket++) {
    const behind = first + (bucket / buckets) * range;
    let end = start;
    while (end < last && (bucket === buckets || stepAt(end) < behind)) end++;
    if (end > start) kept.push(...extremes(valueAt, start, end));
    start = end;
  }
  kept.push(last);
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
