// Leaving the page of a run that writes: the process that writes ends with it, and is asked nothing more.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { viewState } from '../support/view-state.ts';

interface Writing {
  prompt: string;
  readonly failure: unknown;
  readonly job: string | null;
  readonly written: { readonly text: string; readonly cancelled: boolean } | null;
  write(): Promise<void>;
  cancel(): Promise<void>;
  close(): void;
}

/** A text that grows as long as it is asked for; what was called. */
async function open(): Promise<{ writing: Writing; calls: string[] }> {
  const calls: string[] = [];
  const answer =
    <T>(name: string, value: T) =>
    async (): Promise<T> => {
      if (calls.at(-1) !== name) calls.push(name);
      await setImmediate();
      // As a process that has been ended answers.
      if (calls.includes('closeModel')) throw new Error('The connection was closed.');
      return value;
    };
  const service = {
    startText: answer('startText', { unread: null }),
    nextText: answer('nextText', { text: 'a', done: false }),
    endText: answer('endText', undefined),
    closeModel: async () => void calls.push('closeModel'),
  };
  const writing = (await viewState('views/run/write/writing.svelte.ts', 'WritingState', service, 7)) as Writing;
  return { writing, calls };
}

for (const way of ['close', 'cancel'] as const) {
  test(`${way} while a text grows: what there is stays, and nothing fails`, async () => {
    const { writing, calls } = await open();
    const done = writing.write();
    while ((writing.written?.text.length ?? 0) < 3) await setImmediate();
    await writing[way]();
    await done;
    assert.deepEqual(calls, ['startText', 'nextText', way === 'close' ? 'closeModel' : 'endText']);
    assert.deepEqual([writing.job, writing.failure, writing.written?.cancelled], [null, null, true]);
  });
}
