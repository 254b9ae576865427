// The leaderboard of a best of all, for people and for programs.

import { noiseText, type LeaderboardRow, type LearningCurve } from '../../engine/protocol/leaderboard.ts';
import type { RunRecord, RunResult } from '../../engine/protocol/runs.ts';
import { formatCount, formatNumber, formatSeconds, type Output } from './output.ts';

/** What `finished` and `show --json` have of it. */
export function leaderboardEvent({ leaderboard, leftOutModels, learningCurve }: RunResult): object {
  if (!leaderboard) return {};
  return {
    leaderboard: leaderboard.map(({ title, tied, ofFolds, ensembleThere, ...row }) => ({
      ...{ ...row, title, of_folds: ofFolds },
      ...(ensembleThere === undefined ? {} : { ensemble_there: ensembleThere }),
      tied,
    })),
    ...(learningCurve ? { learning_curve: learningCurve } : {}),
    ...(leftOutModels ? { left_out_models: leftOutModels } : {}),
  };
}

/** What is less where it is better. */
const scoreName = ({ result }: RunRecord): string =>
  result && Object.hasOwn(result.metrics, 'val_r2') ? 'root mean square error' : 'log loss';

export function printLeaderboard(output: Output, run: RunRecord): void {
  const { leaderboard, leftOutModels = [] } = run.result ?? {};
  if (!leaderboard) return;
  output.line(`  ${scoreName(run)} on rows that were not learned from (less is better), 95 % intervals:`);
  output.table(leaderboard, [
    { title: '  run', value: (row: LeaderboardRow) => `  ${row.run ?? '–'}` },
    { title: 'model', value: (row) => `${row.title}${missing(row)}` },
    { title: 'score', value: ({ score }) => formatNumber(score), right: true },
    {
      title: 'interval',
      value: ({ interval: [low, high] }) => `${formatNumber(low)} – ${formatNumber(high)}`,
      right: true,
    },
    { title: 'trained', value: ({ seconds }) => formatSeconds(seconds), right: true },
    {
      title: 'µs a row',
      value: ({ microseconds }) => (microseconds > 0 ? formatNumber(microseconds) : '–'),
      right: true,
    },
    {
      title: 'weight',
      value: ({ member, weight }) => (member === null || weight === 0 ? '' : weight.toFixed(2)),
      right: true,
    },
  ]);
  const noise = noiseText(leaderboard);
  if (noise !== null) output.line(`  ${noise}`);
  const { learningCurve: curve } = run.result ?? {};
  if (curve) {
    const said = curve.points.map(({ rows, score }) => `${formatCount(rows)} rows ${formatNumber(score)}`).join(', ');
    output.line(`  learning curve of ${curve.title}: ${said}`);
    if (curve.twice) output.line(`  ${twiceText(curve.twice)}`);
  }
  for (const { title, reason } of leftOutModels) output.line(`  left out: ${title}: ${reason}`);
}

/** `(1 of 5 folds; ensemble there 0.2290)` */
function missing({ folds, ofFolds, ensembleThere }: LeaderboardRow): string {
  if (folds.length === ofFolds) return '';
  const there = ensembleThere === undefined ? '' : `; ensemble there ${formatNumber(ensembleThere)}`;
  return ` (${folds.length} of ${ofFolds} folds${there})`;
}

const twiceText = ({ rows, score, interval: [low, high] }: NonNullable<LearningCurve['twice']>): string =>
  `with twice the data, ${formatCount(rows)} rows: about ${formatNumber(score)} (${formatNumber(low)} – ${formatNumber(high)}), by a power law`;
