// Exports that the app keeps, saved elsewhere under a name that a person chose.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { KeptExports } from '../../electron/main/kept-exports.ts';
import { temporaryHome } from './fixtures/history.ts';

test('what lies beside a model is named like it wherever it is saved, and finds it there', async (context) => {
  const home = temporaryHome(context);
  const kept = new KeptExports(home);
  const script = 'open("customers.onnx"), open("customers.check.json"), "customers.on"\n';
  const files = ['customers.onnx', 'customers.check.json', 'customers.check.py'].map((file) => ({
    path: file,
    data: new TextEncoder().encode(file.endsWith('.py') ? script : '{"name": "customers.onnx"}'),
  }));
  const keep = (name: string): Promise<unknown> =>
    kept.keep(1, 'onnx', name, {
      files: [{ ...files[0], path: name }, ...files.slice(1)],
      certificate: null,
      proven: [],
    });
  for (const name of ['customers.onnx', 'customers.failed.onnx']) {
    await keep(name);
    const folder = fs.mkdtempSync(path.join(home, 'saved-'));
    await kept.copyTo(1, 'onnx', path.join(folder, 'mein Modell $& 表.onnx'));
    assert.deepEqual(fs.readdirSync(folder).sort(), [
      'mein Modell $& 表.check.json',
      'mein Modell $& 表.check.py',
      'mein Modell $& 表.onnx',
    ]);
    assert.equal(
      fs.readFileSync(path.join(folder, 'mein Modell $& 表.check.py'), 'utf8'),
      `open("mein Modell $& 表.onnx"), open("mein Modell $& 表.check.json"), "customers.on"\n`,
    );
    const beside = fs.readFileSync(path.join(folder, 'mein Modell $& 表.check.json'), 'utf8');
    assert.equal(beside, '{"name": "customers.onnx"}');
  }
});
