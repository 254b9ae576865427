// What the page of Settings shows as chosen is what is kept.

import assert from 'node:assert/strict';
import test from 'node:test';
import { keeping } from '../../renderer/views/settings/choice.ts';

test('a choice that cannot be kept, as on a full disk, is not shown as chosen, and the failure is told', async () => {
  const kept = new Map<string, unknown>();
  let full = false;
  const keep = keeping({
    async setSetting({ key, value }) {
      if (full) throw new Error('The disk is full.');
      kept.set(key, value);
    },
  });
  let shown = true;
  await keep('app.notify', shown, () => (shown = false));
  assert.deepEqual([shown, kept.get('app.notify')], [true, true]);
  full = true;
  shown = false;
  await assert.rejects(
    keep('app.notify', shown, () => (shown = true)),
    /disk is full/,
  );
  assert.deepEqual([shown, kept.get('app.notify')], [true, true]);
});
