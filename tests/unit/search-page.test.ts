// What the page of a search draws of many trials: the best of them always, and no more than a frame has time for.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Trial } from '../../engine/protocol/search.ts';
import {
  allAlike,
  atEdge,
  bestSoFar,
  marksOf,
  mostLines,
  mostPoints,
  namedPlaces,
  placeOn,
  reachedText,
  thinned,
  viewOf,
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
  assert.deepEqual([drawn.length, drawn[0].trial, drawn[1].trial, drawn.at(-1)?.trial], [313, 1, 33, 9_985]);
  assert.equal(thinned(many, mostPoints).length, 1_250);
  assert.equal(thinned(drawn, mostPoints), drawn);
  // Another trial moves none of those that were drawn.
  assert.deepEqual(thinned([...many, trial(10_001, 3)], mostLines).slice(0, drawn.length), drawn);
  const { ranked, completed, others } = viewOf(many);
  assert.equal(ranked[0].trial, 6_001);
  assert.ok(ranked.every(({ state }) => state === 'completed'));
  assert.deepEqual([ranked.length, completed.length + others.length], [completed.length, many.length]);
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

test('one that its time cut short is the best only while none was whole, however good its score looks', () => {
  const cut = { ...trial(2, 1), reached: 0.6 };
  assert.deepEqual(bestSoFar([cut, trial(3, 4), { ...trial(4, 0.5), reached: 0.9 }]), [
    [2, 1],
    [3, 4],
  ]);
  assert.deepEqual(
    viewOf([cut, trial(3, 4), trial(4, 3)]).ranked.map((one) => one.trial),
    [4, 3, 2],
  );
});

test('one stopped on the way that looks better than any came to be is drawn at the edge, not below the axis', () => {
  const { span } = viewOf([trial(1, 2), trial(2, 3), trial(3, 0.1, 'stopped')]);
  assert.ok(span[0] > 0.1);
  assert.deepEqual(
    [0.1, 2, 99].map((score) => atEdge(span, score)),
    [span[0], 2, span[1]],
  );
});

test('a score far beyond the others does not press them together', () => {
  const scored = [...Array.from({ length: 19 }, (_, at) => trial(at, 1 + at / 100)), trial(20, 1000)];
  for (const state of ['completed', 'stopped'] as const) {
    const [low, high] = viewOf(scored.map((one) => ({ ...one, state })).reverse()).span;
    assert.ok(low < 1 && high < 1.3, `${low} to ${high}`);
  }
  assert.deepEqual(viewOf([]).span, [0, 1]);
  // While none is completed those that were stopped are far apart: no loss is below 0.
  assert.equal(viewOf([trial(1, 0.3, 'stopped'), trial(2, 9, 'stopped'), trial(3, 9, 'stopped')]).span[0], 0);
});

test('a setting that does not count for a trial has no place', () => {
  const dimension = { kind: 'float', low: 0.001, high: 0.1, log: true } as const;
  const place = placeOn({ name: 'rate', label: 'Rate', dimension }, many[0]);
  assert.ok(place !== null && Math.abs(place - 0.5) < 1e-12);
  assert.equal(placeOn({ name: 'toString', label: 'Other', dimension }, many[0]), null);
});

test('each choice and each whole number is marked once, where it stands', () => {
  const depths = { kind: 'choice', values: [3, 6] } as const;
  assert.deepEqual(marksOf(depths, 5), [0.25, 0.75]);
  assert.deepEqual(namedPlaces(depths), [
    { at: 0.25, text: '3' },
    { at: 0.75, text: '6' },
  ]);
  const layers = { kind: 'integer', low: 1, high: 4 } as const;
  assert.deepEqual(marksOf(layers, 5), [0.125, 0.375, 0.625, 0.875]);
  assert.equal(marksOf({ kind: 'integer', low: 1, high: 1_000_000, log: true }, 5).length, 6);
  assert.deepEqual(marksOf({ kind: 'float', low: 0, high: 1 }, 4), [0, 0.25, 0.5, 0.75, 1]);
  assert.equal(namedPlaces(layers), null);
});

test('trials of one score are told from those that differ; one that came to nothing has none', () => {
  assert.ok(allAlike([]) && allAlike([trial(1, 0.5), trial(2, null, 'failed'), trial(3, 0.5)]));
  assert.ok(!allAlike([trial(1, 0.5), trial(2, 0.6, 'stopped')]));
});
