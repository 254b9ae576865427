// Columns, classes and categories called like what every object has: imported, trained on, predicted and exported.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { temporaryHome, trainyard } from '../support/cli.ts';

const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'] as const;

test('columns and values named like members of every object', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(home, 'names.csv');
  const words = ['constructor', '__proto__', 'toString'];
  const rows = Array.from({ length: 90 }, (_, row) =>
    [row % 7, words[row % 3], row * 1.5, words[(row + 1) % 3], row % 2 === 0 ? '__proto__' : 'constructor'].join(),
  );
  writeFileSync(file, `${[names.join(), ...rows].join('\n')}\n`);

  const inspected = await trainyard(home, 'inspect', file, '--json', '--types', '__proto__=category');
  assert.equal(inspected.code, 0, inspected.stderr);
  const dataset = inspected.events.find(({ event }) => event === 'dataset') as {
    columns: { name: string; overridden: boolean }[];
    sample: Record<string, unknown>[];
  };
  assert.deepEqual(
    dataset.columns.map(({ name }) => name),
    names,
  );
  assert.deepEqual(
    dataset.columns.map(({ overridden }) => overridden),
    [false, false, false, true, false],
  );
  assert.deepEqual(Object.keys(dataset.sample[0] ?? {}), names);

  const trained = await trainyard(home, 'train', file, '--target', 'valueOf', '--epochs', '2', '--json');
  assert.equal(trained.code, 0, trained.stderr);
  const out = path.join(home, 'out.csv');
  const predicted = await trainyard(home, 'predict', '1', file, '--out', out);
  assert.equal(predicted.code, 0, predicted.stderr);
  assert.equal(readFileSync(out, 'utf8').split('\n')[0], 'row,prediction,p(__proto__),p(constructor)');
  const model = path.join(home, 'model.json');
  const exported = await trainyard(home, 'export', '1', '--format', 'json', '--out', model);
  assert.equal(exported.code, 0, exported.stderr);
  const { preprocessing } = JSON.parse(readFileSync(model, 'utf8')) as {
    preprocessing: { features: { column: string }[] };
  };
  assert.deepEqual(preprocessing.features.map(({ column }) => column).sort(), [...names.slice(0, 4)].sort());
});
