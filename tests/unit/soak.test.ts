// A short soak: kills at random moments, and damaged homes. The long one is tests/soak/soak.ts.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { soakCommands } from '../soak/commands.ts';
import { damageMany } from '../soak/damages.ts';
import { killMany } from '../soak/kills.ts';
import { killQueue } from '../soak/queue-kills.ts';
import { temporaryHome } from './fixtures/history.ts';

test('eight kills at random moments lose nothing that was reported as kept', async (context) => {
  const { kills, facts, wrong } = await killMany(temporaryHome(context), 8, 7);
  assert.deepEqual(wrong, []);
  assert.equal(kills, 8);
  assert.ok(facts > 50, `${facts} facts`);
});

test('whoever works the queue off is killed four times: every run is trained to its end, none twice', async (context) => {
  const { cut, runs, wrong } = await killQueue(temporaryHome(context), 4, 3);
  assert.deepEqual(wrong, []);
  assert.ok(runs >= 4 && cut > 0, `${runs} runs, ${cut} cut`);
});

test(
  'commands are killed as they work: the history is sound, and no process, file, port or shared memory is left',
  { skip: process.platform !== 'linux' && 'what is left is looked for as Linux tells it' },
  async (context) => {
    const { commands, killed, wrong } = await soakCommands(join(temporaryHome(context), 'home'), (done) => done < 5, 5);
    assert.deepEqual(wrong, []);
    assert.ok(commands >= 5 && killed >= 2, `${commands} commands, ${killed} killed`);
  },
);

test('fifteen damaged homes: nothing wrong in silence, every refusal one clear line', async () => {
  const { wrong, refused } = await damageMany(15, 7);
  assert.deepEqual(wrong, []);
  assert.ok(refused >= 5, `${refused} refused`);
});
