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
  const models = rows.filter((row) => row.member !== null || isEnsemble(row));
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

/** `3 models are within noise of the ensemble: …`; null where there is nothing to compare. */
export function noiseText(rows: readonly LeaderboardRow[]): string | null {
  const members = rows.filter(({ member }) => member !== null);
  const mixed = members.filter(({ weight }) => weight > 0);
  // One alone is no ensemble, and not within noise of itself.
  const alone = mixed.length === 1 ? mixed[0] : undefined;
  const others = members.filter((row) => row !== alone);
  if (members.length < 2) return null;
  const best = alone ? alone.title : 'the ensemble';
  const tied = others.filter((row) => row.tied).length;
  if (tied === 0)
    return `${alone ? `${best} is better than each other model` : 'The ensemble is better than each of its models'}: on the same rows chance does not explain it.`;
  return `${tied === 1 ? 'One model is' : `${tied} models are`} within noise of ${best}: on the same rows chance explains the difference.`;
}
