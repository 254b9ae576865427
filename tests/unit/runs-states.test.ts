// Every pair of state and event: where it leads, or that it is refused.

import assert from 'node:assert/strict';
import test from 'node:test';
import { InputError } from '../../engine/protocol/errors.ts';
import { finalStates } from '../../engine/protocol/runs.ts';
import type { RunState } from '../../engine/protocol/runs.ts';
import { nextState, stateAfter } from '../../engine/runs/states.ts';
import type { RunEvent } from '../../engine/runs/states.ts';

const events = [
  'start',
  'pause',
  'resume',
  'complete',
  'stop',
  'diverge',
  'fail',
  'interrupt',
  'requeue',
] as const satisfies RunEvent[];

/** Rows: states; columns: events in the order above. */
const expected: Readonly<Record<RunState, readonly (RunState | null)[]>> = {
  queued: ['running', null, null, null, 'stopped', null, 'failed', 'interrupted', null],
  running: [null, 'paused', null, 'completed', 'stopped', 'diverged', 'failed', 'interrupted', null],
  paused: [null, null, 'running', null, 'stopped', null, 'failed', 'interrupted', null],
  completed: [null, null, null, null, null, null, null, null, null],
  stopped: [null, null, null, null, null, null, null, null, 'queued'],
  diverged: [null, null, null, null, null, null, null, null, null],
  failed: [null, null, null, null, null, null, null, null, 'queued'],
  interrupted: [null, null, null, null, null, null, null, null, 'queued'],
};
const states = Object.keys(expected) as RunState[];

for (const state of states) {
  test(`from ${state}`, () => {
    events.forEach((event, index) => {
      const next = expected[state][index];
      assert.equal(stateAfter(state, event), next, event);
      if (next !== null) assert.equal(nextState(7, state, event), next);
      else assert.throws(() => nextState(7, state, event), InputError, event);
    });
  });
}

test('exactly the states that no event of a running trainer leaves are final', () => {
  const left = states.filter((state) =>
    events.some((event) => event !== 'requeue' && stateAfter(state, event) !== null),
  );
  assert.deepEqual(new Set(states.filter((state) => !left.includes(state))), finalStates);
});

test('a refusal names run, state and wish, and says what to do', () => {
  assert.throws(() => nextState(7, 'completed', 'requeue'), {
    code: 'input.run_state',
    message: 'Run 7 is completed: it cannot be resumed.',
    hint: 'Start a new run with its settings.',
  });
  assert.throws(() => nextState(7, 'diverged', 'requeue'), { hint: /diverge again: .* lower learning rate/ });
  assert.throws(() => nextState(7, 'queued', 'pause'), /Run 7 is queued: it cannot be paused/);
  assert.throws(() => nextState(7, 'stopped', 'pause'), { hint: 'Resume it first.' });
});
