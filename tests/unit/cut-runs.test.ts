// What the window says of runs that were cut short: nothing of those that were removed, or have ended, before it came to say it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AppService } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { cutNoteLife, type CutRuns } from '../../engine/protocol/queue.ts';
import type { RunsChanged } from '../../engine/protocol/store.ts';
import { GoingOn } from '../../electron/main/going-on.ts';
import { createStore } from '../../engine/history/store.ts';
import { tellCut } from '../../renderer/app/cut-runs.ts';
import { newRun, temporaryHome } from './fixtures/history.ts';

const runs = new Map(
  Object.entries({
    1: { id: 1, name: 'First', state: 'running', deletedAt: null },
    2: { id: 2, name: 'Second', state: 'queued', deletedAt: null },
    3: { id: 3, name: 'Trashed', state: 'interrupted', deletedAt: 5 },
    4: { id: 4, name: 'Done', state: 'completed', deletedAt: null },
    5: { id: 5, name: 'Left', state: 'interrupted', deletedAt: null },
    6: { id: 6, name: 'Left too', state: 'interrupted', deletedAt: null },
  }),
);

async function told(cut: CutRuns): Promise<readonly string[]> {
  return (await window(cut)).said;
}

/** What a window says, which of its notes it took away, and what tells it that runs have changed. */
async function window(cut: CutRuns): Promise<{ said: string[]; gone: number[]; change: (event: RunsChanged) => void }> {
  const listeners = new Set<(event: RunsChanged) => void>();
  const service: Pick<AppService, 'takeCut' | 'run' | 'queuePaused' | 'onRunsChanged'> = {
    takeCut: async () => cut,
    queuePaused: async () => false,
    onRunsChanged: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    run: async ({ run }) => {
      const found = runs.get(String(run));
      if (found === undefined) throw new InputError('input.unknown_run', `There is no run ${run}.`, '');
      return found as never;
    },
  };
  const said: string[] = [];
  const gone: number[] = [];
  const toasts = { show: (text: string) => said.push(text), dismiss: (id: number) => void gone.push(id) };
  await tellCut({ service, toasts, failure: null } as never);
  return { said, gone, change: (event) => listeners.forEach((listener) => listener(event)) };
}

test('runs that are gone, in the trash or at their end when the note is written are left out of it', async () => {
  const purged = 9;
  const why = 'the program that trained it ended before its time.';
  assert.deepEqual(await told({ goOn: [purged], left: [purged] }), []);
  assert.deepEqual(await told({ goOn: [purged, 1, 3, 4], left: [3, 5, purged] }), [
    'Left was cut short 3 times in a row without coming farther: it does not go on by itself.',
    `First goes on from where it was: ${why}`,
  ]);
  assert.deepEqual(await told({ goOn: [1, purged, 2], left: [] }), [
    '2 runs go on from where they were: the program that trained them ended before its time.',
  ]);
  // The window shows three notes at most: those that were left have one.
  assert.deepEqual(await told({ goOn: [1], left: [5, 6, 3] }), [
    '2 runs were cut short 3 times in a row without coming farther: they do not go on by themselves.',
    `First goes on from where it was: ${why}`,
  ]);
});

test('a note that offers to stop a run ends with it', async (context) => {
  const first = runs.get('1')!;
  const { said, gone, change } = await window({ goOn: [1], left: [] });
  const event = { runs: [1], trained: [], logged: [] };
  change(event);
  await setImmediate();
  assert.deepEqual(gone, []);
  runs.set('1', { ...first, state: 'completed' });
  context.after(() => runs.set('1', first));
  change({ ...event, trained: [1] });
  await setImmediate();
  assert.deepEqual(gone, [], 'it has only trained on');
  change(event);
  await setImmediate();
  assert.deepEqual(gone, [said.length]);
});

test('a page that is loaded again is told what the one before it had no time to show; what has stayed its time is told once', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const { id } = await store.createRun(newRun());
  await store.updateRun({ run: id, patch: { state: 'interrupted', queue: { position: 1, taken: true } } });
  const goingOn = new GoingOn({ store, runs: { adopt: async () => [] as never } });
  await goingOn.start();
  const cut = { goOn: [id], left: [] };
  const nobody = { goOn: [], left: [] };
  assert.deepEqual(goingOn.take(true, 1_000), cut);
  assert.deepEqual(goingOn.take(false, 1_100), nobody, 'the same page hears of it once');
  assert.deepEqual(goingOn.take(true, 2_000), cut, 'loaded again');
  assert.deepEqual(goingOn.take(true, 1_000 + cutNoteLife), nobody);
});
