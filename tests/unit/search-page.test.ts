// What the page of a search draws of many trials: the best of them always, and no more than a frame has time for.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Trial } from '../../engine/protocol/search.ts';
import {
  bestOf,
  bestSoFar,
  mostLines,
  mostPoints,
  placeOn,
  reachedText,
  scoreSpan,
  thinned,
} from '../../renderer/views/run/search/search.ts';

const trial = (number: number, score: number | null, state: Trial['state'] = 'completed'): Trial => ({
  ...{ trial: number, score, state, settings: { rate: 0.01 }, reached: 1, steps: 10 },
  ...{ losses: [], rungs: [], seconds: 1, training: 1, note: state === 'stopped' ? 'at 2 of 54, 7 of 9' : '' },
});

/** 10,000 of them; the best is in the middle. */
const many = Array.from({ length: 10_000 }, (_, at) =>
  trial(at + 1, 1 + Math.abs(at - 6_000) / 10_000, at % 3 === 1 ? 'stopped' : 'completed'),
);

test('of many trials some are drawn, evenly, and the best ones always', () => {
  const drawn = thinned(many, mostLines);
  assert.equal(drawn.length, mostLines);
  assert.deepEqual([drawn[0].trial, drawn[1].trial, drawn[mostLines - 1].trial], [1, 26, 9_976]);
  assert.equal(thinned(many, mostPoints).length, mostPoints);
  assert.equal(thinned(drawn, mostPoints), drawn);
  const best = bestOf(many, 20);
  assert.deepEqual([best.length, best[0].trial], [20, 6_001]);
  assert.ok(best.every(({ state }) => state === 'completed'));
});

test('the best so far falls, and one that was stopped early never is it', () => {
  const trials = [trial(1, 5), trial(2, 1, 'stopped'), trial(3, 6), trial(4, null, 'failed'), trial(5, 4)];
  assert.deepEqual(bestSoFar(trials), [
    [1, 5],
    [5, 4],
  ]);
  assert.equal(reachedText(trials[1]), 'stopped at 2 of 54, 7 of 9');
  assert.equal(reachedText(trials[0]), 'all');
});

test('a score far beyond the others does not press them together', () => {
  const [low, high] = scoreSpan([...Array.from({ length: 19 }, (_, at) => trial(at, 1 + at / 100)), trial(20, 1000)]);
  assert.ok(low < 1 && high < 1.3, `${low} to ${high}`);
  assert.deepEqual(scoreSpan([]), [0, 1]);
});

test('a setting that does not count for a trial has no place', () => {
  const dimension = { kind: 'float', low: 0.001, high: 0.1, log: true } as const;
  const place = placeOn({ name: 'rate', label: 'Rate', dimension }, many[0]);
  assert.ok(place !== null && Math.abs(place - 0.5) < 1e-12);
  assert.equal(placeOn({ name: 'toString', label: 'Other', dimension }, many[0]), null);
});
