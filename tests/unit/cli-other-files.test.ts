// `predict` on files that do not fit: what was lost is said, a lost column is refused, and the file itself is never written over.

import assert from 'node:assert/strict';
import { linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { refuseInput } from '../../electron/cli/output-file.ts';
import { temporaryHome, trainyard } from '../support/cli.ts';

const table = (price: (row: number) => string): string =>
  `price,group,y\n${Array.from({ length: 80 }, (_, row) => `${price(row)},${'AB'[row % 2] ?? ''},${row % 2 === 0 ? 'yes' : 'no'}`).join('\n')}\n`;

test('predict says what it cannot use, refuses a column that is lost, and spares its input', async (t) => {
  const home = temporaryHome(t);
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(home, name), text);
    return path.join(home, name);
  };
  const plain = table((row) => `${row}.5`);
  const train = file('train.csv', plain);
  assert.equal((await trainyard(home, 'train', train, '--target', 'y', '--epochs', '1', '--threads', '1')).code, 0);

  const some = file('some.csv', table((row) => (row < 8 ? 'dear' : `$${row}.5`)).replaceAll(',A,', ',a,'));
  const json = await trainyard(home, 'predict', '1', some, '--json');
  const finished = json.events.at(-1) as { columns: object[]; warnings: { code: string }[] };
  assert.deepEqual(finished.columns, [
    { name: 'price', missing: 0, unknown: 0.1, trainingMissing: 0 },
    { name: 'group', missing: 0, unknown: 0, trainingMissing: 0 },
  ]);
  assert.deepEqual(
    finished.warnings.map(({ code }) => code),
    ['respelled', 'lost_cells', 'respelled'],
  );
  const people = (await trainyard(home, 'predict', '1', some)).stdout;
  assert.match(people, /! price: 8 of 80 cells are no numbers \("dear"\); in training none were lost/);
  assert.match(people, /! group: categories are spelled differently .*"a" as "A"/);
  assert.match(people, /^ {2}price: 0 % missing, 10 % unknown; in training 0 %$/m);

  const lost = file(
    'lost.csv',
    table(() => 'dear'),
  );
  const refused = await trainyard(home, 'predict', '1', lost);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /price: 80 of 80 cells are no numbers \("dear"\).*\n?.*--force/);
  assert.equal((await trainyard(home, 'predict', '1', lost, '--force')).code, 0);

  linkSync(train, path.join(home, 'hard.csv'));
  symlinkSync(train, path.join(home, 'soft.csv'));
  for (const out of ['train.csv', 'hard.csv', 'soft.csv'].map((name) => path.join(home, name))) {
    await assert.rejects(refuseInput(out, train), { code: 'input.same_file' });
  }
  await refuseInput(path.join(home, 'new.csv'), train);
  const { code, stderr } = await trainyard(home, 'predict', '1', train, '--out', path.join(home, 'hard.csv'));
  assert.deepEqual([code, /is the file that is read/.test(stderr)], [2, true]);
  assert.equal(readFileSync(train, 'utf8'), plain);
});
