// What the window shows of an error: never the words that Electron and Node put around those of others.

import assert from 'node:assert/strict';
import test from 'node:test';
import { InputError } from '../../engine/protocol/errors.ts';
import { failureOf } from '../../renderer/app/failure.ts';

test('errors are shown in plain words, whatever wrapped them', () => {
  const wrapped = "Error invoking remote method 'trainyard:dropped': Error: What was dropped is not a file.";
  for (const error of [new Error(wrapped), wrapped, new InputError('input.no_file', wrapped)]) {
    assert.equal(failureOf(error).message, 'What was dropped is not a file.');
  }
  assert.equal(failureOf("Error invoking remote method 'x': TypeError: no").message, 'no');
  assert.equal(failureOf(new Error('')).message, 'Trainyard met a fault of its own.');
  assert.deepEqual(failureOf(new InputError('input.file', 'It is gone.', 'Open it again.')), {
    code: 'input.file',
    message: 'It is gone.',
    hint: 'Open it again.',
  });
});
