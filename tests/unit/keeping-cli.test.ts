// A backup, restoring it, and runs carried to another machine, as a person does it at the command line.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';

test('backup, restore, export and import of runs, groups and the disk page at the command line', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const [all, some] = [path.join(out, 'all.backup'), path.join(out, 'some.runs')];
  await lastEvent(home, 'train', penguins, '--model', 'linear', '--name', 'walrus');
  assert.match(
    (await trainyard(home, 'backup', all, '--datasets')).stdout,
    /^1 run and 1 dataset written to .* read again: \d+ files/,
  );
  await lastEvent(home, 'runs', '1', '--group', 'winter');
  await lastEvent(home, 'runs', 'export', '1', some);
  assert.deepEqual(readdirSync(out).sort(), ['all.backup', 'some.runs']);

  assert.match((await trainyard(other, 'runs', 'import', some)).stdout, /^Run 1: walrus, run 1 of /);
  assert.equal((await trainyard(other, 'runs', 'import', some)).stdout, 'Run 1 is here already.\n');
  assert.equal((await lastEvent(other, 'runs', '--group', 'winter', '--search', 'bill_length "linear model"')).run, 1);
  assert.match((await trainyard(other, 'runs', '--group', 'summer')).stdout, /^No run matches\.\n$/);
  await lastEvent(other, 'predict', '1', penguins, '--out', path.join(out, 'p.csv'));

  const restored = await lastEvent(other, 'restore', all);
  assert.ok(existsSync(path.join(String(restored.setAside), 'history.db')));
  assert.equal((await lastEvent(other, 'show', '1')).group, null, 'the backup is of before the group');
  const { code, stderr } = await trainyard(other, 'restore', some);
  assert.deepEqual(
    [code, stderr],
    [2, 'trainyard: The file holds a run, not a whole home. Take them up with `trainyard runs import`.\n'],
  );
  const { stdout } = await trainyard(other, 'home', '--drop-set-aside', '--compact');
  assert.match(stdout, /What was set aside is removed, .* freed\.\nThe history takes .* now/);
  assert.match(stdout, /part +size +holds +free it with\nSettings and curves .* 1 run\n/);
  assert.equal(existsSync(String(restored.setAside)), false);
});
