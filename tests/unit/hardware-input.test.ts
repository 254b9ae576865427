// Files and numbers that a person hands to the hardware commands: a byte-order mark is taken, what cannot be read is said in words,
// and a number is one that a person writes.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { labText, readLab } from '../../engine/lab/file.ts';
import { temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

const mark = '\ufeff';

test('a byte-order mark spoils no file: a lab, thresholds, a catalogue, a model', async (context) => {
  const home = temporaryHome(context);
  assert.deepEqual(readLab(mark + labText(exampleLab()), 'lab.json'), exampleLab());
  const write = (name: string, value: object): string => {
    const file = path.join(home, name);
    fs.writeFileSync(file, mark + JSON.stringify(value));
    return file;
  };
  const model = write('model.json', { version: 1, layers: [{ type: 'dense', units: 8 }, { type: 'output' }] });
  const rules = write('rules.json', { 'below-crossover.speedup': 3 });
  const catalogue = write('catalogue.json', { version: 1, devices: [] });
  for (const args of [
    ['advise', '--model', 'small', '--rules', rules],
    ['catalogue', '--check', catalogue],
    ['forecast', '--model', model, '--input', '20'],
  ]) {
    const { code, stderr } = await trainyard(home, ...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }
});

test('what cannot be read is said in words', async (context) => {
  const home = temporaryHome(context);
  for (const [args, words] of [
    [['catalogue', '--check', path.join(home, 'none.json')], /none\.json cannot be read: it is not there\./],
    [['catalogue', '--check', home], /cannot be read: it is a folder\./],
    [['lab', '--import', path.join(home, 'none.json')], /none\.json cannot be read: it is not there\./],
    [['advise', '--model', 'small', '--rules', home], /cannot be read: it is a folder\. Write thresholds by name/],
  ] as const) {
    const { code, stderr } = await trainyard(home, ...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, words);
  }
});

test('a number is one that a person writes', async (context) => {
  const home = temporaryHome(context);
  for (const card of ['0x10', '0b11', 'Infinity', '2,000', '']) {
    const { code, stderr } = await trainyard(home, 'breakeven', '--card', card, '--rent', '3');
    assert.equal(code, 2, card);
    assert.match(stderr, /--card is “.*”\. It has to be a number from 1/);
  }
  assert.equal((await trainyard(home, 'breakeven', '--card', '2e3', '--rent', '.5')).code, 0);
});
