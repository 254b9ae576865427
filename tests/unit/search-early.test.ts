// A search that stops trials early: which of them goes on later, and that there is always one that came to its end.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Trials } from '../../engine/learners/search/standing.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { searchLinear } from '../support/search.ts';

const space = { l2: { kind: 'float', low: 0, high: 100 } } as const;

/** A trial that came to some rungs: stopped at the last of them, or with a score completed. */
function trialOf(trial: number, rungs: Trial['rungs'], more: Partial<Trial> = {}): Trial {
  const common = { settings: { l2: trial }, losses: [], steps: 1, seconds: 1, training: 1, note: '' };
  return { ...common, trial, rungs, state: 'stopped', score: rungs.at(-1)?.[1] ?? null, reached: 0.1, ...more };
}

function trialsOf(all: readonly Trial[]): Trials {
  const trials = new Trials(space, 1, { kind: 'classes', classes: ['a', 'b'] } as never, 5, () => ({}) as never);
  for (const trial of all) trials.add(trial);
  return trials;
}

const nothing: ReadonlySet<number> = new Set();

test('one that was stopped goes on once enough worse ones have come to its rung', () => {
  const first = [5, 3, 4, 6].map((loss, at) => trialOf(at + 1, [[1 / 8, loss]]));
  const trials = trialsOf(first);
  // Of three none goes on, of four the best.
  assert.equal(trials.toGoOn(3, nothing, false), undefined);
  assert.equal(trials.toGoOn(4, nothing, false)?.trial, 2);
  assert.equal(trials.toGoOn(4, new Set([2]), false), undefined);
  // It goes on to the next rung, where it is alone; of two there the better half goes on, before all at lower rungs.
  const more: readonly Trial[] = [
    trialOf(
      5,
      [
        [1 / 8, 3],
        [1, 2.9],
      ],
      { after: 2, settings: { l2: 2 } },
    ),
    trialOf(6, [
      [1 / 8, 2],
      [1, 2.5],
    ]),
  ];
  for (const trial of more) trials.add(trial);
  assert.equal(trials.toGoOn(5, new Set([2]), false), undefined);
  assert.equal(trials.toGoOn(6, new Set([2]), false)?.trial, 6);
  // What it had before does not count twice.
  assert.deepEqual(trials.atRung(1 / 8, 6), [5, 3, 4, 6, 2]);
  assert.deepEqual(trials.atRung(1, 5), [2.9]);
  // Whatever the others are: the best at the highest rung.
  assert.equal(trials.toGoOn(5, new Set([2]), true)?.trial, 5);
  assert.equal(trials.toGoOn(4, nothing, true)?.trial, 2);
});

test('samplers see a trial that went on once, as far as it came by then', () => {
  const trials = trialsOf([
    ...[5, 3, 4].map((loss, at) => trialOf(at + 1, [[1 / 8, loss]])),
    trialOf(
      4,
      [
        [1 / 8, 3],
        [1, 2],
      ],
      { after: 2, settings: { l2: 2 }, state: 'completed', score: 2, reached: 1 },
    ),
  ]);
  const seen = (known: number): unknown[] => trials.seen(known).map(({ chosen, score }) => [chosen['l2'], score]);
  assert.deepEqual(seen(3), [
    [1, 5],
    [2, 3],
    [3, 4],
  ]);
  assert.deepEqual(seen(4), [
    [1, 5],
    [3, 4],
    [2, 2],
  ]);
  assert.equal(trials.like({ l2: 2 }, 3)?.trial, 2);
  assert.equal(trials.like({ l2: 2 }, 4)?.trial, 4);
  assert.deepEqual([trials.repeats(4), trials.anyCompleted(3), trials.anyCompleted(4)], [0, false, true]);
});

const penalty = JSON.stringify({ penalty: { kind: 'float', low: 1e-4, high: 1e4, log: true } });

test('what the steps would have been without stopping early counts each setting once, whatever was trained again or taken over', () => {
  const rungs = [
    [1 / 8, 3],
    [1, 2.9],
  ] as const;
  const completed = { state: 'completed', score: 2, reached: 1 } as const;
  const stopped = [
    trialOf(1, rungs.slice(0, 1), { steps: 5 }),
    trialOf(2, rungs, { steps: 40 }),
    trialOf(3, rungs, { steps: 40 }),
    // Taken over, as there was nothing new to try.
    trialOf(4, [], { steps: 0, settings: { l2: 1 } }),
  ];
  const wentOn = (trial: number, after: number, more: Partial<Trial>): Trial =>
    trialOf(trial, rungs, { ...completed, after, settings: { l2: after }, ...more });
  const trials = trialsOf([
    ...stopped,
    wentOn(5, 2, { steps: 160 }),
    // As after a kill, which takes along what was learned in folds.
    wentOn(6, 3, { steps: 200, anew: true }),
    trialOf(7, [], { ...completed, steps: 0, settings: { l2: 3 } }),
  ]);
  const { steps, fullSteps } = trials.standing();
  assert.deepEqual([steps, fullSteps], [445, 600]);
});

test('which settings matter is told from six trials of one setting on, also where stopping early left few of them whole', () => {
  const whole = { state: 'completed', reached: 1 } as const;
  const trials = trialsOf([1, 2, 3, 4].map((at) => trialOf(at, [[1, at]], { ...whole, score: at })));
  const told = (): number | undefined => {
    trials.findImportance();
    return trials.standing().importance?.single['l2'];
  };
  assert.equal(told(), undefined);
  for (const at of [60, 61]) trials.add(trialOf(trials.all.length + 1, [[1, 9]], { settings: { l2: at } }));
  assert.ok(told()! > 0.5, `${told()}`);
  const none = trialsOf(Array.from({ length: 8 }, (_, at) => trialOf(at + 1, [[1, at]], { settings: { l2: at } })));
  none.findImportance();
  assert.equal(none.standing().importance, null, 'stopped ones alone tell nothing');
});

test('however few trials there are, one comes to its end, and settings are those of a search that stops none', async () => {
  const whole = await searchLinear({ space: penalty, trials: 12, sampler: 'random' });
  for (const parallel of [1, 2]) {
    for (const trials of [1, 2, 3, 6, 12]) {
      const found = await searchLinear({ space: penalty, trials, asha: true, sampler: 'random', parallel });
      assert.equal(found.trials.length, trials);
      assert.ok(found.result.search!.completed >= 1, `${trials} trials`);
      const drawn = found.trials.filter(({ after }) => after === undefined).map(({ settings }) => settings);
      assert.deepEqual(
        drawn,
        whole.trials.slice(0, drawn.length).map(({ settings }) => settings),
      );
    }
  }
});

test('a space that is tried out at once still has one that came to its end', async () => {
  const space = JSON.stringify({ penalty: { kind: 'choice', values: [1, 100] } });
  for (const parallel of [1, 2]) {
    const { result } = await searchLinear({ space, sampler: 'random', trials: 0, minutes: 100, asha: true, parallel });
    assert.equal(result.search?.ended, 'exhausted');
    assert.ok(result.search.best !== null);
  }
});

test('the same search comes of it wherever it was interrupted, though what was learned in folds is gone', async () => {
  const own = { space: penalty, trials: 24, asha: true, sampler: 'random' } as const;
  const whole = await searchLinear(own);
  const told = (trials: readonly Trial[]): unknown[] =>
    trials.map(({ trial, settings, score, rungs, note, after, losses }) => [
      trial,
      settings,
      score,
      rungs,
      note,
      after,
      losses,
    ]);
  assert.ok(whole.trials.some(({ after }) => after !== undefined));
  for (const kept of [1, 5, 9, 14, 20, 23]) {
    const rest = await searchLinear(own, { trials: whole.trials.slice(0, kept) });
    assert.deepEqual(told(rest.trials), told(whole.trials), `${kept} trials kept`);
    assert.deepEqual(rest.result.metrics, whole.result.metrics);
    assert.equal(rest.result.search?.fullSteps, whole.result.search?.fullSteps);
  }
});
