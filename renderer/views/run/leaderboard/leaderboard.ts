// What a leaderboard shows of its rows.

import type { LeaderboardRow } from '../../../../engine/protocol/leaderboard.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';

export interface Axis {
  readonly from: number;
  readonly to: number;
}

/** Widths of the best one's interval that the axis has room for: what is far behind stands beside it. */
const most = 4;

export function axisOf(rows: readonly LeaderboardRow[]): Axis {
  if (rows.length === 0) return { from: 0, to: 1 };
  const [low, high] = rows[0].interval;
  // What was scored on a part of the rows stands on no axis with the others.
  const models = rows.filter((row) => (row.member !== null || isEnsemble(row)) && row.ensembleThere === undefined);
  const from = Math.min(...models.map(({ interval, folds }) => Math.min(interval[0], ...folds)));
  const to = Math.max(...models.map(({ interval, folds }) => Math.max(interval[1], ...folds)));
  return { from: Math.max(from, low - (high - low) * most), to: Math.min(to, high + (high - low) * most) };
}

export const isEnsemble = ({ member, learner }: LeaderboardRow): boolean => member === null && learner === 'auto';

/** Places from 1; the answer that is always the same has none. */
export function placesOf(rows: readonly LeaderboardRow[]): readonly (number | null)[] {
  let place = 0;
  return rows.map((row) => (row.member === null && !isEnsemble(row) ? null : ++place));
}

export const scoreWord = ({ config }: Pick<RunRecord, 'config'>): string =>
  config.settings.task === 'regression' ? 'RMSE' : 'Log loss';
