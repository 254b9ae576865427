// The best trials of a search as one ensemble: which they are, that its members come to what the trials came to, and what is refused.

import assert from 'node:assert/strict';
import test from 'node:test';
import { chosenMembers, everyKind } from '../../engine/learners/declared/chosen-members.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { searchFields, type SearchConfig } from '../../engine/learners/search/declaration.ts';
import { ensembleConfig, ensembleTrials } from '../../engine/learners/declared/search-ensemble.ts';
import type { RunConfig, RunResult } from '../../engine/protocol/runs.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { defaultsOf } from '../../engine/settings/values.ts';
import { partsJob } from '../support/parts-job.ts';

const settings = { target: 'bought', task: 'classification' } as const;
const space = { penalty: { kind: 'float', low: 1e-3, high: 1e4, log: true } };
const searched = {
  ...{ dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings, learner: 'search' },
  search: {
    ...defaultsOf(searchFields, { rows: 160, task: 'classification' } as never),
    ...{ of: 'linear', sampler: 'random', trials: 8, space: JSON.stringify(space) },
  },
} as SearchConfig;

async function train(config: RunConfig, onTrial?: (trial: Trial) => void): Promise<RunResult> {
  const training = await learnerNamed(config.learner).open(partsJob(config, 4, { onTrial }));
  while (await training.advance(1_000)) continue;
  return training.result();
}

test('the members of an ensemble of a search come to what its best trials came to, whatever minutes it says', async () => {
  const trials: Trial[] = [];
  await train(searched, (trial) => trials.push(trial));
  const best = ensembleTrials(trials, 3);
  assert.equal(best.length, 3);
  // A tenth of a millisecond, if time counted.
  const config = ensembleConfig(
    searched,
    trials.map((trial) => ({ ...trial, seconds: 1e-4 })),
    3,
  );
  const { leaderboard = [], metrics, remark } = await train(config);
  const members = leaderboard.filter(({ member }) => member !== null);
  assert.deepEqual(
    members.map(({ title, score, learner }) => [title, score.toPrecision(12), learner]),
    best.map(({ trial, score }) => [`Trial ${trial}`, score!.toPrecision(12), 'linear']),
  );
  assert.ok(leaderboard[0].score <= members[0].score);
  assert.ok('test_accuracy' in metrics && /of 3 models$/.test(remark ?? ''), remark);
});

test('of trials with the same settings one is a member, of those that were stopped or failed none', () => {
  const trial = (number: number, penalty: number, score: number | null, state: Trial['state']): Trial => ({
    ...{ trial: number, settings: { penalty }, state, score, reached: 1, steps: 1, losses: [], rungs: [] },
    ...{ seconds: 1, training: 1, note: '' },
  });
  const trials = [
    trial(1, 1, 0.5, 'completed'),
    trial(2, 2, 0.1, 'stopped'),
    trial(3, 3, 0.4, 'completed'),
    trial(4, 3, 0.4, 'completed'),
    trial(5, 4, null, 'failed'),
  ];
  assert.deepEqual(
    ensembleTrials(trials).map(({ trial: number }) => number),
    [3, 1],
  );
  assert.equal(chosenMembers(ensembleConfig(searched, trials, 5).auto)?.length, 2);
  assert.throws(() => ensembleConfig(searched, trials.slice(0, 2), 5), { code: 'input.search', message: /two trials/ });
});

test('members that cannot be trained are refused with what is wrong', () => {
  assert.equal(chosenMembers({ members: everyKind }), null);
  const cases: readonly (readonly [members: string, message: RegExp])[] = [
    ['{', /not JSON/],
    ['[]', /no list/],
    ['[{"learner": "linear"}]', /no title/],
    ['[{"title": "A", "learner": "auto", "settings": {}}]', /“A” is of no learner/],
    ['[{"title": "A", "learner": "linear", "settings": {"trees": 3}}]', /“trees”, which is no setting/],
    ['[{"title": "A", "learner": "boosted", "settings": {"trees": -3}}]', /trees of “A” cannot be -3/],
  ];
  for (const [members, message] of cases)
    assert.throws(() => chosenMembers({ members }), { code: 'input.members', message });
});
