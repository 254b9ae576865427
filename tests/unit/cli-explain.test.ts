// `explain` end to end: columns that matter and one that does not, a row whose contributions add up, classes, refusals.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';

interface Found {
  readonly score: string;
  readonly explained: string;
  readonly shuffles: number;
  readonly importance: readonly {
    column: string;
    together?: string[];
    mean: number;
    noise: boolean;
    drops: Record<string, number[]>;
  }[];
  readonly correlated: readonly { columns: readonly string[]; r: number }[];
  readonly dependence: readonly { column: string; values: readonly (string | number)[]; mean: readonly number[] }[];
  readonly row: {
    readonly average: number;
    readonly prediction: number;
    readonly contributions: readonly { column: string; value: string; share: number; error: number }[];
  };
}

test('a network and a linear model of columns of every kind', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(home, 'made.csv');
  const kinds = ['low', 'middle', 'high'];
  const lines = Array.from({ length: 600 }, (_, i) => {
    const [a, noise] = [(i * 37) % 101, (i * 61) % 89];
    const kind = kinds[(i * 7) % 3];
    const date = new Date(Date.UTC(2024, 0, 1 + (i % 300))).toISOString().slice(0, 10);
    const y = 3 * a + 100 * kinds.indexOf(kind);
    return `${i % 17 === 0 ? '' : a},${2 * a + 1},${kind},${noise},${i % 2 === 0 ? 'true' : 'false'},${date},${y}`;
  });
  fs.writeFileSync(file, ['a,twin,kind,noise,flag,day,y', ...lines].join('\n'));
  for (const flags of [
    ['--epochs', '60', '--hidden', '32'],
    ['--model', 'linear'],
  ]) {
    const { run } = await lastEvent(home, 'train', file, '--target', 'y', ...flags);
    const found = (await lastEvent(home, 'explain', String(run), '--row', '5', '--split', 'train')) as unknown as Found;
    assert.deepEqual([found.score, found.explained, found.shuffles], ['rmse', 'y', 10]);
    const matter = found.importance.slice(0, 3).map(({ column }) => column);
    assert.deepEqual(matter.sort(), ['a', 'kind', 'twin'], flags.join(' '));
    const noise = found.importance.find(({ column }) => column === 'noise');
    const kind = found.importance.find(({ column }) => column === 'kind');
    assert.ok(noise && kind && kind.mean > 20 * Math.abs(noise.mean), JSON.stringify(found.importance));
    assert.equal(kind.drops.rmse.length, 10);
    assert.deepEqual(found.correlated[0].columns, ['a', 'twin']);
    const asked = ['explain', String(run), '--group', '--split', 'train', '--shuffles', '4'];
    const grouped = (await lastEvent(home, ...asked)) as unknown as Found;
    const pair = grouped.importance.find(({ column }) => column === 'a')!;
    assert.deepEqual([pair.together, grouped.importance.length], [['twin'], found.importance.length - 1]);
    const { contributions, prediction, average } = found.row;
    const sum = contributions.reduce((total, { share }) => total + share, 0);
    assert.ok(Math.abs(sum - (prediction - average)) < 1e-6 * Math.abs(prediction), `${sum}`);
    assert.equal(contributions[2].value, kinds[(4 * 7) % 3]);
    const byKind = found.dependence.find(({ column }) => column === 'kind');
    assert.ok(byKind);
    const at = (value: string): number => byKind.mean[byKind.values.indexOf(value)];
    assert.ok(at('high') - at('low') > 150 && at('high') - at('low') < 250, `${at('low')} … ${at('high')}`);
  }
  // Advice about one that began with another's weights keeps to what they fit.
  const begun = await lastEvent(home, 'train', file, '--target', 'y', '--epochs', '8', '--from', '1');
  const { findings } = await lastEvent(home, 'explain', String(begun.run));
  for (const { try: offered } of findings as readonly { try: string | null }[]) {
    assert.doesNotMatch(String(offered), /wide|without/);
  }
});

/** Header and rows of numbers of a CSV file without quotes. */
function readNumbers(file: string): {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const [names, ...rows] = fs
    .readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return { names, rows };
}

test('each row of a file: sampled with so many draws, beside its own columns', async (t) => {
  const home = temporaryHome(t);
  await lastEvent(home, 'train', penguins, '--model', 'linear');
  const out = path.join(home, 'why.csv');
  const few = path.join(home, 'few.csv');
  const lines = fs.readFileSync(penguins, 'utf8').split('\n');
  fs.writeFileSync(few, [...lines.slice(0, 9), ''].join('\n'));
  const told = await lastEvent(home, 'explain', '1', few, '--out', out, '--columns', 'all', '--draws', '40');
  assert.deepEqual(
    [told.method, told.rows, told.draws, told.background, told.explained],
    ['sampled', 8, 40, 20, 'p(Adelie)'],
  );
  const own = lines[0].trim().split(',');
  const { names, rows } = readNumbers(out);
  assert.deepEqual(names.slice(0, own.length), own);
  const [expected, prediction] = ['expected', 'prediction'].map((name) => names.indexOf(name));
  assert.ok(expected === own.length && prediction > expected, names.join());
  for (const row of rows) {
    const sum = row.slice(expected, prediction).reduce((all, value) => all + Number(value), 0);
    assert.ok(Math.abs(sum - Number(row[prediction])) < 1e-9, row.join());
  }
  const orphan = await trainyard(home, 'explain', '1', '--out', out);
  assert.deepEqual([orphan.code, /--out is about the rows of a file/.test(orphan.stderr)], [2, true]);
});

test('classes, words and refusals', async (t) => {
  const home = temporaryHome(t);
  await lastEvent(home, 'train', penguins, '--epochs', '4');
  const found = await trainyard(home, 'explain', '1', '--class', 'Gentoo', '--row', '1');
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /loss of ROC area when shuffled/);
  assert.match(found.stdout, /mean p\(Gentoo\)/);
  assert.match(found.stdout, /Row 1: p\(Gentoo\) is /);
  await lastEvent(home, 'explain', '1', '--split', 'test', '--shuffles', '2');
  // A refusal has shown nothing.
  const three = await trainyard(home, 'evaluate', '1', '--split', 'test', '--threshold', '0.4');
  assert.deepEqual([three.code, /there are 3.*Leave --threshold/s.test(three.stderr)], [2, true]);
  assert.equal((await lastEvent(home, 'evaluate', '1', '--split', 'test')).opened_before, 1);
  const unknown = await trainyard(home, 'explain', '1', '--class', 'Emperor');
  assert.deepEqual([unknown.code, /one of Adelie/.test(unknown.stderr)], [2, true]);
  const beyond = await trainyard(home, 'explain', '1', '--row', '9999');
  assert.deepEqual([beyond.code, /Row 9999 is none of those/.test(beyond.stderr)], [2, true]);
});

test('trees are explained exactly, and tell what their splits gained', async (t) => {
  const home = temporaryHome(t);
  for (const [model, scale] of [
    ['boosted', 'score'],
    ['forest', 'answer'],
  ]) {
    const { run } = await lastEvent(home, 'train', penguins, '--model', model, '--trees', '12');
    const found = await lastEvent(home, 'explain', String(run), '--row', '3', '--shuffles', '2');
    const row = found.row as Record<'method' | 'scale', string> & Record<'prediction' | 'average' | 'answer', number>;
    const { contributions } = found.row as { contributions: { share: number; error: number }[] };
    assert.deepEqual([row.method, row.scale], ['exact', scale], JSON.stringify(found).slice(0, 3000));
    const sum = contributions.reduce((all, { share }) => all + share, row.average);
    assert.ok(Math.abs(sum - row.prediction) <= 1e-9, `${sum} of ${row.prediction}`);
    assert.ok(contributions.every(({ error }) => error === 0));
    if (scale === 'answer') assert.ok(Math.abs(row.prediction - row.answer) < 1e-6);
    const importance = found.importance as readonly { gain: number; splits: number }[];
    assert.ok(importance.some(({ gain, splits }) => gain > 0 && splits > 0));
    assert.ok((importance as unknown as { contribution: number }[]).some(({ contribution }) => contribution > 0));
    const parquet = path.join(home, `${model}.parquet`);
    const whole = await lastEvent(home, 'explain', String(run), penguins, '--out', parquet);
    assert.deepEqual([whole.method, whole.scale, whole.expected], ['exact', scale, row.average]);
    const again = await lastEvent(home, 'inspect', parquet);
    assert.equal(again.rows, whole.rows, JSON.stringify(again).slice(0, 500));
    const csv = path.join(home, `${model}.csv`);
    await lastEvent(home, 'explain', String(run), penguins, '--out', csv);
    const { names, rows } = readNumbers(csv);
    assert.deepEqual([names[0], names.at(-1), rows.length], ['expected', 'prediction', whole.rows]);
    for (const cells of rows) {
      const total = cells.slice(0, -1).reduce((all, value) => all + Number(value), 0);
      assert.ok(Math.abs(total - Number(cells.at(-1))) <= 1e-9, cells.join());
    }
    // The row that was asked for alone.
    contributions.forEach(({ share }, at) => assert.ok(Math.abs(share - Number(rows[2][at + 1])) < 1e-12));
    const shown = await trainyard(home, 'show', String(run));
    assert.match(shown.stdout, /\n {2}gain {6}\S.* \d+\.\d %/);
    const look = await lastEvent(home, 'show', String(run), '--tree', '2', '--class', 'Gentoo');
    const nodes = look.nodes as readonly { kind: string; rows: number; left: number; right: number; column: string }[];
    assert.equal(look.leaves, nodes.filter(({ kind }) => kind === 'leaf').length);
    for (const { kind, rows, left, right } of nodes) {
      if (kind === 'split') assert.equal(rows, nodes[left].rows + nodes[right].rows);
    }
    const { stdout } = await trainyard(home, 'show', String(run), '--tree', '2');
    assert.match(stdout, /^Tree 2 of 12, Adelie: \d+ leaves, depth \d+\n[^]*├ yes/);
    assert.equal(stdout.split('\n').filter((line) => /\(\d+ rows?(, gain .*)?\)$/.test(line)).length, nodes.length);
    assert.match(
      (await trainyard(home, 'show', String(run), '--tree', '13')).stderr,
      /no tree 13\. Choose one of 1 … 12/,
    );
  }
});
