// The curves of a ranking as they are drawn, with their areas: a step a pass over the rows, so that whoever draws can do other
// things between.

import type { ClassRows } from '../protocol/evaluated-rows.ts';
import { curveBands, type Bands } from './bands.ts';
import { rankedClasses, rankingOf } from './class-scores.ts';
import { areas, gainCurve, precisionRecallCurve, rocCurve, thinned, type Areas, type Curve } from './ranking.ts';

export interface DrawnCurves {
  readonly areas: Areas;
  /** Share of the rows that are of the class. */
  readonly prevalence: number;
  readonly roc: Curve;
  readonly pr: Curve;
  readonly gain: Curve;
  /** Of two classes; of more the curves would hide each other. */
  readonly bands: Bands | null;
}

/** One a class, of two classes only the second's; null where all rows are of it, or none. */
export function* drawCurves(rows: ClassRows): Generator<void, readonly (DrawnCurves | null)[]> {
  const drawn: (DrawnCurves | null)[] = [];
  for (const wanted of rankedClasses(rows)) {
    const ranking = rankingOf(rows, wanted);
    yield;
    const { positives, order } = ranking;
    const both = positives > 0 && positives < order.length;
    const bands = both && rows.classes.length === 2 ? yield* curveBands(ranking) : null;
    if (!both) {
      drawn.push(null);
      continue;
    }
    const own = areas(ranking, null);
    yield;
    const roc = thinned(rocCurve(ranking));
    yield;
    const pr = thinned(precisionRecallCurve(ranking));
    yield;
    const gain = thinned(gainCurve(ranking));
    yield;
    drawn.push({ areas: own, prevalence: positives / order.length, roc, pr, gain, bands });
  }
  return drawn;
}
