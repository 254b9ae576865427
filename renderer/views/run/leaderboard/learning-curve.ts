// What the chart of a learning curve shows: the points that were measured, and the one that a power law says of twice the rows.

import type { LearningCurve } from '../../../../engine/protocol/leaderboard.ts';

export interface CurvePoint {
  readonly rows: number;
  readonly score: number;
  readonly interval: readonly [low: number, high: number];
  /** Nobody measured it. */
  readonly twice: boolean;
}

/** From few rows to many. */
export const curvePoints = ({ points, twice }: LearningCurve): readonly CurvePoint[] => [
  ...points.map((point) => ({ ...point, twice: false })),
  ...(twice ? [{ ...twice, twice: true }] : []),
];

/** The point whose place is nearest. */
export function nearestPoint(
  points: readonly CurvePoint[],
  placeOf: (rows: number) => number,
  place: number,
): CurvePoint | null {
  const away = ({ rows }: CurvePoint): number => Math.abs(placeOf(rows) - place);
  return points.reduce<CurvePoint | null>((best, point) => (best && away(best) <= away(point) ? best : point), null);
}

/** As CSV. */
export const curveLines = (curve: LearningCurve): string =>
  [
    'rows,score,low,high,measured',
    ...curvePoints(curve).map(({ rows, score, interval, twice }) => [rows, score, ...interval, !twice].join(',')),
  ].join('\n') + '\n';
