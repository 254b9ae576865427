// A backup, restoring it, and runs carried to another machine, as a person does it at the command line.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, penguins, startTrainyard, tables, temporaryHome, trainyard } from '../support/cli.ts';

test('backup, restore, export and import of runs, groups and the disk page at the command line', async (context) => {
  const [home, other, out] = [temporaryHome(context), temporaryHome(context), temporaryHome(context)];
  const [all, some] = [path.join(out, 'all of it.backup'), path.join(out, 'some.runs')];
  await lastEvent(home, 'train', penguins, '--model', 'linear', '--name', 'walrus');
  assert.match(
    (await trainyard(home, 'backup', all, '--datasets')).stdout,
    /^1 run and 1 dataset written to .* read again: \d+ files.*\nBring it back: trainyard restore '.*all of it\.backup'$/m,
  );
  await lastEvent(home, 'runs', '1', '--group', 'winter');
  await lastEvent(home, 'runs', 'export', '1', some);
  assert.deepEqual(readdirSync(out).sort(), ['all of it.backup', 'some.runs']);

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

/** The processes that have the history of a home open. */
function storesOf(home: string): readonly number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(`--home=${home}`)).map((line) => Number.parseInt(line, 10));
}

const onLinux = { skip: process.platform !== 'linux' && 'stops a process as Linux does' };

test(
  'a home is not restored under a training; a training whose home was exchanged writes no more',
  onLinux,
  async (context) => {
    const [home, out] = [temporaryHome(context), temporaryHome(context)];
    const all = path.join(out, 'all.backup');
    await lastEvent(home, 'train', penguins, '--model', 'linear', '--name', 'walrus');
    await lastEvent(home, 'train', penguins, '--model', 'linear', '--name', 'puffin');
    await trainyard(home, 'backup', all, '--datasets');
    const digits = path.join(tables, 'digits.csv');
    const long = ['train', digits, '--hidden', '256', '--epochs', '5000', '--patience', '0', '--threads', '1'];
    const training = startTrainyard(home, [...long, '--json']);
    await training.event('epoch');
    const refused = await trainyard(home, 'restore', all);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(
      refused.stderr,
      /^trainyard: Another Trainyard has the history in .* open: run 3 \(“.*”\) is running\. /,
    );
    assert.match(refused.stderr, /Let it end, or stop it \(`trainyard stop 3`\), and try again\.\n$/);

    // Its store dies, and the home is restored before the training has noticed.
    training.child.kill('SIGSTOP');
    for (const store of storesOf(home)) process.kill(store, 'SIGKILL');
    await lastEvent(home, 'restore', all);
    const weights = readFileSync(path.join(home, 'runs', '2', 'best.safetensors'));
    training.child.kill('SIGCONT');
    const { code, stderr } = await training.finished;
    assert.equal(code, 1);
    assert.match(stderr, /The history that this program has begun with is no longer in .*: a backup was restored/);
    assert.deepEqual(readdirSync(path.join(home, 'runs')).sort(), ['1', '2']);
    assert.ok(readFileSync(path.join(home, 'runs', '2', 'best.safetensors')).equals(weights));
  },
);
