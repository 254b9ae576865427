// docs/table_recipe.py, with which an outside reader redoes the preprocessing: the same rows as ours, feature by feature.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { importFile, temporaryFolder, writeTable } from './helpers.ts';

const script = fileURLToPath(new URL('../../../docs/table_recipe.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

test('the example in Python makes the same rows', { skip: !hasPython && 'there is no python3' }, async (context) => {
  const letters = [...'abcdefghijklmnopqrst'];
  const row = (index: number, known: boolean): (string | number)[] => [
    index % 9 === 0 ? '' : (index * 37) % 101,
    index % 11 === 0 ? 'n/a' : (index % 7) + 0.25,
    known ? (['red', 'green', ''][index % 3] ?? '') : 'blue',
    letters[index % (known ? 18 : 20)] ?? '',
    index % 5 === 0 ? '' : index % 2 === 0 ? 'yes' : 'no',
    `2023-${String(1 + (index % 12)).padStart(2, '0')}-${String(1 + (index % 28)).padStart(2, '0')} ${String(index % 24).padStart(2, '0')}:30:00`,
    `${String(1 + (index % 28)).padStart(2, '0')}.${String(1 + ((index * 5) % 12)).padStart(2, '0')}.2021`,
    `"Ünit ${index % 13}, ${known ? 'well-known' : 'new'}: naïve 5² ${'long '.repeat(index % 8)}"`,
    index * 1.5,
  ];
  const names = 'count,size,colour,letter,member,time,day,note,y';
  const text = (known: boolean): string =>
    `${[names, ...Array.from({ length: 180 }, (_, index) => row(index, known).join())].join('\n')}\n`;
  const settings = { target: 'y', types: { letter: 'category', note: 'text' }, texts: { columns: ['note'] } } as const;
  const { service, info } = await importFile(context, writeTable(context, 'train.csv', text(true)), {}, settings);
  const { preprocessing } = await service.prepare({
    job: 'p',
    dataset: info.id,
    options: { settings, seed: 1, texts: 'words' },
  });
  const kinds = (preprocessing as { features: { kind: string }[] }).features.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['number', 'number', 'one_hot', 'embedding', 'boolean', 'datetime', 'datetime', 'text']);

  const path = writeTable(context, 'new.csv', text(false));
  const data = await service.transform({ job: 't', path, preprocessing, force: true });
  const { x } = await service.readShard({ handle: data.handle, shard: 0 });
  const recipe = join(temporaryFolder(context), 'preprocessing.json');
  writeFileSync(recipe, JSON.stringify(preprocessing));
  const { stdout, stderr } = spawnSync('python3', [script, recipe, path], { encoding: 'utf8' });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as number[]);
  assert.equal(rows.length, 180, stderr);
  rows.forEach((values, index) => {
    assert.equal(values.length, data.width);
    values.forEach((value, at) => {
      const ours = x[index * data.width + at] ?? NaN;
      assert.ok(Math.abs(value - ours) <= 1e-5 * Math.max(1, Math.abs(value)), `row ${index}, ${at}: ${value} ${ours}`);
    });
  });
});
