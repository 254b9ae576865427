// The states of a run and what leads from one to another, as one table. Everything that changes a run's state asks here.

import { InputError } from '../protocol/errors.ts';
import type { RunState } from '../protocol/runs.ts';

/**
 * `start` the device is free; `pause`, `resume`, `stop` a person asked; `complete` all epochs are done or it stopped early;
 * `diverge` its loss is no number any more; `fail` an error; `interrupt` its process is gone; `requeue` a person resumes a run
 * that has ended before its time. A run that diverged would do so again from its checkpoint: it is not resumed.
 */
export type RunEvent =
  'start' | 'pause' | 'resume' | 'complete' | 'stop' | 'diverge' | 'fail' | 'interrupt' | 'requeue';

const ends = { stop: 'stopped', fail: 'failed', interrupt: 'interrupted' } as const;

const transitions: Readonly<Record<RunState, Readonly<Partial<Record<RunEvent, RunState>>>>> = {
  queued: { start: 'running', ...ends },
  running: { pause: 'paused', complete: 'completed', diverge: 'diverged', ...ends },
  paused: { resume: 'running', ...ends },
  completed: {},
  stopped: { requeue: 'queued' },
  diverged: {},
  failed: { requeue: 'queued' },
  interrupted: { requeue: 'queued' },
};

/** The state that follows, or null where the event makes no sense. */
export function stateAfter(state: RunState, event: RunEvent): RunState | null {
  return transitions[state][event] ?? null;
}

const verbs: Readonly<Record<RunEvent, string>> = {
  start: 'started',
  pause: 'paused',
  resume: 'continued',
  complete: 'completed',
  stop: 'stopped',
  diverge: 'diverged',
  fail: 'failed',
  interrupt: 'interrupted',
  requeue: 'resumed',
};

/** The state that follows. Throws `input.run_state` where the event makes no sense. */
export function nextState(run: number, state: RunState, event: RunEvent): RunState {
  const next = stateAfter(state, event);
  if (next !== null) return next;
  throw new InputError(
    'input.run_state',
    `Run ${run} is ${state}: it cannot be ${verbs[event]}.`,
    hintFor(state, event),
  );
}

function hintFor(state: RunState, event: RunEvent): string {
  if (event === 'requeue') {
    if (state === 'diverged') return 'It would diverge again: start a new run with a lower learning rate.';
    return state === 'completed' ? 'Start a new run with its settings.' : 'It is at work already.';
  }
  if (state === 'queued') return 'Wait until it has started, or stop it.';
  if (transitions[state].requeue) return 'Resume it first.';
  return '';
}
