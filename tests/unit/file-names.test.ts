// Names that people give become names of files: nothing that a file system or a reader would be misled by stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeName } from '../../electron/main/saving.ts';

test('a file name has no separators, no ends of lines, and nothing that cannot be seen', () => {
  assert.equal(safeName('Köln, 2. Versuch.onnx'), 'Köln, 2. Versuch.onnx');
  assert.equal(safeName('東京 🐧.csv'), '東京 🐧.csv');
  assert.equal(safeName('../a/b:c.csv'), '-a-b-c.csv');
  assert.equal(safeName('two\nlines\u001b[31m\u2028.csv'), 'two-lines-[31m-.csv');
  assert.equal(safeName('x\u202egpj.exe'), 'x-gpj.exe');
  assert.equal(safeName('half \ud83d.csv'), 'half -.csv');
  assert.equal(safeName('...'), 'trainyard');
});
