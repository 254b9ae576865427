// What the app is asked to open, by its arguments and by another start of it.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { filesAmong, filesForOther, filesOfOther } from '../../electron/main/opened-files.ts';

const folder = path.resolve('somewhere');
const table = path.join(folder, 'a table, 50 % – 表 🐧.csv');

test('a desktop hands over paths or file: addresses, beside switches and the app itself', () => {
  const own = path.resolve('app');
  const given = [own, '--flag', '', path.basename(table), pathToFileURL(table).href, 'file://elsewhere/%zz'];
  const files = filesAmong(given, folder, own);
  assert.deepEqual(files.slice(0, 2), [table, table]);
  assert.match(files[2], /elsewhere/);
  assert.equal(files.length, 3);
});

test('another start hands them over whatever their names, and nothing else is taken from it', () => {
  assert.deepEqual(filesOfOther(filesForOther([table])), [table]);
  for (const sent of [null, undefined, {}, { files: 7 }, { files: 'bm8=' }, filesForOther(['relative.csv'])])
    assert.deepEqual(filesOfOther(sent), []);
});
