// A short soak: kills at random moments, and damaged homes. The long one is tests/soak/soak.ts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { damageMany } from '../soak/damages.ts';
import { killMany } from '../soak/kills.ts';
import { killQueue } from '../soak/queue-kills.ts';
import { temporaryHome } from './fixtures/history.ts';

test('ten kills at random moments lose nothing that was reported as kept', async (context) => {
  const { kills, facts, wrong } = await killMany(temporaryHome(context), 10, 7);
  assert.deepEqual(wrong, []);
  assert.equal(kills, 10);
  assert.ok(facts > 50, `${facts} facts`);
});

test('whoever works the queue off is killed four times: every run is trained to its end, none twice', async (context) => {
  const { cut, runs, wrong } = await killQueue(temporaryHome(context), 4, 3);
  assert.deepEqual(wrong, []);
  assert.ok(runs >= 4 && cut > 0, `${runs} runs, ${cut} cut`);
});

test('twenty damaged homes: nothing wrong in silence, every refusal one clear line', async () => {
  const { wrong, refused } = await damageMany(20, 7);
  assert.deepEqual(wrong, []);
  assert.ok(refused >= 5, `${refused} refused`);
});
