// A service whose process may die: something may be done that no such process may serve beside.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Reviving, type Living } from '../../engine/protocol/reviving.ts';

interface Numbered {
  start(): Promise<number>;
}

test('alone: the process is ended, calls wait for a new one, no death is told, and earlier starts do not count', async () => {
  let starts = 0;
  let end = (_reason: string): void => undefined;
  const reviving = new Reviving<Numbered, Living<Numbered>>({
    open: async () => {
      const number = ++starts;
      const ended = new Promise<string>((resolve) => (end = resolve));
      return { remote: { start: async () => number }, ended };
    },
    restarts: { most: 1, windowMilliseconds: 60_000 },
    tooMany: (times) => new Error(`${times} starts`),
  });
  const deaths: string[] = [];
  reviving.onDeath((reason) => deaths.push(reason));
  assert.equal(await reviving.service.start(), 1);

  const steps: string[] = [];
  const ending = async ({ ended }: Living<Numbered>): Promise<void> => {
    end('asked to');
    steps.push(await ended);
  };
  const done = reviving.alone(ending, async () => steps.push('alone'));
  const call = reviving.service.start().then((number) => steps.push(`start ${number}`));
  await Promise.all([done, call]);
  assert.deepEqual(steps, ['asked to', 'alone', 'start 2']);
  assert.deepEqual(deaths, []);

  const failing = reviving.alone(ending, () => Promise.reject(new Error('cannot')));
  await assert.rejects(failing, /cannot/);
  assert.equal(await reviving.service.start(), 3, 'calls go on all the same');
});
