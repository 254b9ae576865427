// What the window says of runs that were cut short: nothing of those that were removed, or have ended, before it came to say it.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AppService } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { CutRuns } from '../../engine/protocol/queue.ts';
import { tellCut } from '../../renderer/app/cut-runs.ts';

const runs = new Map(
  Object.entries({
    1: { id: 1, name: 'First', state: 'running', deletedAt: null },
    2: { id: 2, name: 'Second', state: 'queued', deletedAt: null },
    3: { id: 3, name: 'Trashed', state: 'interrupted', deletedAt: 5 },
    4: { id: 4, name: 'Done', state: 'completed', deletedAt: null },
    5: { id: 5, name: 'Left', state: 'interrupted', deletedAt: null },
  }),
);

async function told(cut: CutRuns): Promise<readonly string[]> {
  const service: Pick<AppService, 'takeCut' | 'run' | 'queuePaused'> = {
    takeCut: async () => cut,
    queuePaused: async () => false,
    run: async ({ run }) => {
      const found = runs.get(String(run));
      if (found === undefined) throw new InputError('input.unknown_run', `There is no run ${run}.`, '');
      return found as never;
    },
  };
  const said: string[] = [];
  const toasts = { show: (text: string) => void said.push(text) };
  await tellCut({ service, toasts, failure: null } as never);
  return said;
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
});
