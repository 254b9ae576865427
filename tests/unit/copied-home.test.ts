// A home that is copied while its app runs is a home of its own: it does not hand over to that app.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { forgetCopiedLinks, noteFolder } from '../../electron/main/copied-home.ts';
import { temporaryHome } from './fixtures/history.ts';

const skip = process.platform === 'win32' && 'There are no such links on Windows.';

test('links of the running app stay in its home, and are forgotten in a copy of it', { skip }, (context) => {
  const folder = temporaryHome(context);
  const [home, copy] = ['home', 'copy'].map((name) => path.join(folder, name));
  fs.mkdirSync(home);
  fs.symlinkSync('desk-1', path.join(home, 'SingletonLock'));
  const isLocked = (of: string): boolean =>
    fs.lstatSync(path.join(of, 'SingletonLock'), { throwIfNoEntry: false }) !== undefined;
  forgetCopiedLinks(home);
  assert.ok(isLocked(home), 'a home that has noted nothing');
  noteFolder(home);
  forgetCopiedLinks(home);
  assert.ok(isLocked(home));
  fs.cpSync(home, copy, { recursive: true, verbatimSymlinks: true });
  forgetCopiedLinks(copy);
  assert.ok(!isLocked(copy));
  assert.ok(isLocked(home));
});

test('a home in which nothing can be noted keeps its links, and the app starts', { skip }, (context) => {
  const home = temporaryHome(context);
  fs.symlinkSync('desk-1', path.join(home, 'SingletonLock'));
  // In place of the folder of the note a file, as a full disk leaves none; then a note that was not written to its end.
  fs.writeFileSync(path.join(home, 'window'), '');
  assert.doesNotThrow(() => noteFolder(home));
  fs.rmSync(path.join(home, 'window'));
  noteFolder(home);
  fs.truncateSync(path.join(home, 'window', 'folder'));
  forgetCopiedLinks(home);
  assert.ok(fs.lstatSync(path.join(home, 'SingletonLock'), { throwIfNoEntry: false }));
});
