// Thinning a curve for drawing: each bucket of points gives its lowest and its highest, so that no spike is lost.

interface Valued {
  readonly value: number;
}

/**
 * At most `limit` of the points (but never fewer than 2 of at least 2), in order, the first and the last among them.
 * Where a bucket holds a value that is not finite, the first of those takes the place of its highest: a curve that
 * blew up has to show it.
 */
export function thin<Point extends Valued>(points: readonly Point[], limit: number): readonly Point[] {
  if (points.length <= Math.max(limit, 2)) return points;
  const inner = points.length - 2;
  const buckets = Math.max(0, Math.floor((limit - 2) / 2));
  const kept: Point[] = [points[0]];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = 1 + Math.floor((bucket * inner) / buckets);
    const end = 1 + Math.floor(((bucket + 1) * inner) / buckets);
    kept.push(...extremes(points, start, end));
  }
  kept.push(points[points.length - 1]);
  return kept;
}

/** One or two of the points [start, end), in order. */
function extremes<Point extends Valued>(points: readonly Point[], start: number, end: number): Point[] {
  let lowest = start;
  let highest = start;
  for (let index = start; index < end; index++) {
    const { value } = points[index];
    if (!Number.isFinite(value)) {
      highest = index;
      break;
    }
    if (value < points[lowest].value) lowest = index;
    if (value > points[highest].value) highest = index;
  }
  if (lowest === highest) return [points[lowest]];
  return lowest < highest ? [points[lowest], points[highest]] : [points[highest], points[lowest]];
}
