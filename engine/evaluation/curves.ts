// The curves of a ranking as they are drawn, with their areas: a step a class, so that whoever draws can do other things between.

import type { ClassRows } from '../protocol/evaluated-rows.ts';
import { rankedClasses, rankingOf } from './class-scores.ts';
import { areas, gainCurve, precisionRecallCurve, rocCurve, thinned, type Areas, type Curve } from './ranking.ts';

export interface DrawnCurves {
  readonly areas: Areas;
  /** Share of the rows that are of the class. */
  readonly prevalence: number;
  readonly roc: Curve;
  readonly pr: Curve;
  readonly gain: Curve;
}

/** One a class, of two classes only the second's; null where all rows are of it, or none. */
export function* drawCurves(rows: ClassRows): Generator<void, readonly (DrawnCurves | null)[]> {
  const drawn: (DrawnCurves | null)[] = [];
  for (const wanted of rankedClasses(rows)) {
    const ranking = rankingOf(rows, wanted);
    yield;
    const { positives, order } = ranking;
    drawn.push(
      positives === 0 || positives === order.length
        ? null
        : {
            areas: areas(ranking, null),
            prevalence: positives / order.length,
            roc: thinned(rocCurve(ranking)),
            pr: thinned(precisionRecallCurve(ranking)),
            gain: thinned(gainCurve(ranking)),
          },
    );
    yield;
  }
  return drawn;
}
