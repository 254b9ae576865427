// What the page of a best of all says of its leaderboard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisOf } from '../../renderer/views/run/leaderboard/leaderboard.ts';
import { noiseText, type LeaderboardRow } from '../../engine/protocol/leaderboard.ts';

const row = (member: number | null, weight: number, tied: boolean): LeaderboardRow => ({
  ...{ member, run: null, learner: member === null ? 'auto' : 'linear', title: `Model ${member}` },
  ...{ score: 1, interval: [0, 2], folds: [1], ofFolds: 1, tied, seconds: 1, microseconds: 1, weight },
});
const ensemble = row(null, 1, true);

test('models within noise of the ensemble are counted; one alone is not within noise of itself', () => {
  assert.equal(noiseText([ensemble, row(1, 1, true)]), null);
  const mixed = [ensemble, row(1, 0.7, true), row(2, 0.3, false)];
  assert.match(noiseText(mixed) ?? '', /^One model is within noise of the ensemble:/);
  const worse = [ensemble, row(1, 0.7, false), row(2, 0.3, false)];
  assert.match(noiseText(worse) ?? '', /^The ensemble is better than each of its models:/);
  const alone = [ensemble, row(1, 1, true), row(2, 0, true), row(3, 0, false)];
  assert.match(noiseText(alone) ?? '', /^One model is within noise of Model 1:/);
  assert.match(
    noiseText([ensemble, row(1, 1, true), row(2, 0, false)]) ?? '',
    /^Model 1 is better than each other model:/,
  );
});

test('what was scored on fewer rows stands on no axis with the others', () => {
  const fewer = { ...row(2, 0, true), interval: [-9, 9], folds: [-9], ofFolds: 5, ensembleThere: 1 } as const;
  assert.deepEqual(axisOf([ensemble, row(1, 1, true), fewer]), { from: 0, to: 2 });
});
