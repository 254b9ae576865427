// Datasets made ready for a run: splits, preprocessing fitted on the training split alone, and the rows a model sees.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { parsePreprocessing } from '../../../engine/data/preprocess/recipe.ts';
import type { FeatureRecipe, Preprocessing } from '../../../engine/data/preprocess/recipe.ts';
import type { DatasetSettings, PreparedData } from '../../../engine/protocol/data.ts';
import { codes, importFile, messy, samples, table, writeTable } from './helpers.ts';
import type { TestService } from './helpers.ts';

/** All prepared rows in one piece. */
async function readAll(service: TestService, data: PreparedData): Promise<{ x: number[][]; y: number[] }> {
  const x: number[][] = [];
  const y: number[] = [];
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const read = await service.readShard({ handle: data.handle, shard });
    assert.equal(read.rows, (data.shardStarts[shard + 1] ?? 0) - (data.shardStarts[shard] ?? 0));
    for (let row = 0; row < read.rows; row++) {
      x.push([...read.x.subarray(row * data.width, (row + 1) * data.width)]);
      y.push(read.y[row] ?? NaN);
    }
  }
  return { x, y };
}

async function prepare(
  context: TestContext,
  path: string,
  settings: DatasetSettings = {},
  seed = 1,
): Promise<{ service: TestService; data: PreparedData; recipe: Preprocessing; x: number[][]; y: number[] }> {
  const { service, info } = await importFile(context, path);
  const data = await service.prepare({ job: 'prepare', dataset: info.id, options: { settings, seed } });
  return { service, data, recipe: parsePreprocessing(data.preprocessing), ...(await readAll(service, data)) };
}

function featureOf(recipe: Preprocessing, column: string): FeatureRecipe {
  const feature = recipe.features.find((candidate) => candidate.column === column);
  assert.ok(feature, `no feature ${column}`);
  return feature;
}

test('iris: stratified split, standardised on the training split alone', async (context) => {
  const { data, recipe, x, y } = await prepare(context, table('iris.csv'));
  assert.deepEqual(data.counts, { train: 120, validation: 15, test: 15 });
  assert.deepEqual(data.classCounts, [40, 40, 40]);
  assert.deepEqual(data.output, { kind: 'classes', classes: ['setosa', 'versicolor', 'virginica'] });
  assert.deepEqual(data.input, { kind: 'table', width: 4, numeric: 4, embeddings: [] });
  for (const label of [0, 1, 2]) assert.equal(y.slice(120, 135).filter((value) => value === label).length, 5);
  // Mean 0 and deviation 1 over the training rows, and only over them.
  for (let column = 0; column < 4; column++) {
    const values = x.slice(0, 120).map((row) => row[column] ?? NaN);
    const mean = values.reduce((sum, value) => sum + value, 0) / 120;
    const variance = values.reduce((sum, value) => sum + value * value, 0) / 120;
    assert.ok(Math.abs(mean) < 1e-5 && Math.abs(variance - 1) < 1e-5, `column ${column}: ${mean}, ${variance}`);
  }
  const all = x.reduce((sum, row) => sum + (row[0] ?? 0), 0) / 150;
  assert.ok(Math.abs(all) > 1e-4, 'the mean of all rows is another one');
  assert.equal(featureOf(recipe, 'sepal_length').kind, 'number');
});

test('the seed decides the split, and nothing else does', async (context) => {
  const first = await prepare(context, table('iris.csv'), {}, 5);
  const again = await prepare(context, table('iris.csv'), {}, 5);
  const other = await prepare(context, table('iris.csv'), {}, 6);
  assert.deepEqual(again.x, first.x);
  assert.deepEqual(again.data.preprocessing, first.data.preprocessing);
  assert.notDeepEqual(other.x, first.x);
});

test('prepared rows are the rows of the file, each in one split', async (context) => {
  const rows = Array.from({ length: 200 }, (_, index) => `${index}.5,${index % 2 ? 'odd' : 'even'}`);
  const { x, y, recipe, data } = await prepare(context, writeTable(context, 'n.csv', `v,label\n${rows.join('\n')}\n`));
  const feature = featureOf(recipe, 'v');
  assert.ok(feature.kind === 'number');
  const values = x.map(([value = NaN]) => Math.round(value * feature.deviation + feature.mean - 0.5));
  assert.deepEqual(
    [...values].sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index),
  );
  assert.ok(
    values.every((value, row) => y[row] === value % 2),
    'features and target stay together',
  );
  const train = values.slice(0, data.counts.train);
  assert.deepEqual(
    train,
    [...train].sort((a, b) => a - b),
    'within a split the order of the file',
  );
});

test('missing numbers take the median and raise a flag', async (context) => {
  const { recipe, x, data } = await prepare(context, messy('missing-spellings.csv'));
  const age = featureOf(recipe, 'age');
  assert.ok(age.kind === 'number' && age.indicator);
  const imputed = x.filter((row) => row[1] === 1);
  assert.equal(imputed.length, 10);
  for (const [value = NaN] of imputed) assert.ok(Math.abs(value - (age.impute - age.mean) / age.deviation) < 1e-6);
  assert.ok(data.counts.train > 0 && !recipe.features.some((feature) => feature.column === 'grade'));
});

test('categories: one column each up to 16, then an embedding', async (context) => {
  const rows = Array.from(
    { length: 400 },
    (_, index) => `c${index % 3},${`t${(index * 7) % 40}`},${(index * 31) % 97}`,
  );
  const path = writeTable(context, 'many.csv', `few,many,value\n${rows.join('\n')}\n`);
  const { data, recipe, x } = await prepare(context, path);
  const many = featureOf(recipe, 'many');
  assert.ok(many.kind === 'embedding');
  assert.deepEqual(data.input, {
    kind: 'table',
    width: 4,
    numeric: 3,
    embeddings: [{ name: 'many', vocabulary: 41, dimensions: 13 }],
    numbers: [],
  });
  for (const row of x) {
    assert.equal(
      row.slice(0, 3).reduce((sum, value) => sum + value, 0),
      1,
    );
    assert.ok(Number.isInteger(row[3]) && (row[3] ?? 0) >= 1 && (row[3] ?? 0) <= 40);
  }
});

test('dates become a standardised time and the cyclical parts that vary', async (context) => {
  const { recipe, x } = await prepare(context, messy('dates.csv'), { target: 'amount' });
  const zoned = featureOf(recipe, 'zoned');
  assert.ok(zoned.kind === 'datetime');
  assert.deepEqual(zoned.parts, ['month', 'weekday', 'hour']);
  const iso = featureOf(recipe, 'iso');
  assert.ok(iso.kind === 'datetime');
  assert.deepEqual(iso.parts, ['month', 'weekday']);
  assert.deepEqual(featureOf(recipe, 'german').kind, 'datetime');
  // iso and german are the same days: the same five numbers.
  for (const row of x) {
    assert.deepEqual(row.slice(0, 5), row.slice(5, 10));
    assert.ok(Math.abs((row[1] ?? 0) ** 2 + (row[2] ?? 0) ** 2 - 1) < 1e-5, 'sine and cosine of one angle');
  }
});

test('a regression target is standardised on the training split', async (context) => {
  const { data, y } = await prepare(context, table('diabetes.csv'));
  assert.ok(data.output.kind === 'value');
  assert.ok(Math.abs(data.output.offset - 152) < 10 && Math.abs(data.output.scale - 77) < 8);
  const train = y.slice(0, data.counts.train);
  assert.ok(Math.abs(train.reduce((sum, value) => sum + value, 0) / train.length) < 1e-5);
  assert.deepEqual(data.classCounts, []);
});

test('identifiers, texts, constants and ignored columns are left out, with the reason', async (context) => {
  const { data, recipe } = await prepare(context, messy('types.csv'), { ignored: ['size'] });
  assert.deepEqual(data.leftOut, recipe.leftOut);
  assert.deepEqual(recipe.leftOut, [
    { column: 'id', reason: 'identifier' },
    { column: 'zip', reason: 'identifier' },
    { column: 'size', reason: 'ignored' },
    { column: 'comment', reason: 'text' },
  ]);
});

test('classes of whole numbers are in numeric order', async (context) => {
  const { data } = await prepare(context, table('digits.csv'));
  assert.deepEqual(data.output, { kind: 'classes', classes: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] });
});

test('rows without a target are left out, and it is said', async (context) => {
  const { data } = await prepare(context, `${samples}penguins.csv`, { target: 'sex' });
  assert.equal(data.counts.train + data.counts.validation + data.counts.test, 333);
  assert.match(data.warnings[0]?.message ?? '', /11 of 344 rows have no sex and are left out/);
});

test('copies of a row stay in one split, and it is said', async (context) => {
  const { data } = await prepare(context, messy('duplicates.csv'));
  assert.deepEqual(codes(data.warnings), ['copies']);
  assert.match(data.warnings[0]?.message ?? '', /are copies of others and stay in their splits/);
});

test('transform gives the same numbers for the same rows', async (context) => {
  const { service, data, x, y } = await prepare(context, `${samples}penguins.csv`);
  const preprocessing: unknown = JSON.parse(JSON.stringify(data.preprocessing));
  const again = await service.transform({ job: 't', path: `${samples}penguins.csv`, preprocessing });
  assert.deepEqual(again.counts, { train: 0, validation: 0, test: 344 });
  assert.deepEqual([again.input, again.output], [data.input, data.output]);
  const rows = await readAll(service, again);
  const text = (row: readonly number[], label: number): string => `${row.join()} ${label}`;
  assert.deepEqual(
    rows.x.map((row, index) => text(row, rows.y[index] ?? NaN)).sort(),
    x.map((row, index) => text(row, y[index] ?? NaN)).sort(),
  );
});

test('transform: no target, unknown categories, columns in another order', async (context) => {
  const { service, data, recipe } = await prepare(context, `${samples}penguins.csv`);
  const path = writeTable(
    context,
    'new.csv',
    'sex,island,body_mass_g,flipper_length_mm,bill_depth_mm,bill_length_mm\nmale,Atlantis,4000,,18,40\n',
  );
  const transformed = await service.transform({ job: 't', path, preprocessing: data.preprocessing });
  const { x, y } = await readAll(service, transformed);
  assert.ok(Number.isNaN(y[0]));
  const names = ['island', 'bill_length_mm'];
  assert.deepEqual(
    recipe.features.slice(0, 2).map(({ column }) => column),
    names,
  );
  assert.deepEqual(x[0]?.slice(0, 3), [0, 0, 0], 'an unknown island is none of the three');
  assert.ok(x[0]?.every(Number.isFinite));
  assert.equal(readdirSync(join(service.home, 'datasets')).filter((name) => name.startsWith('.')).length, 0);
});

test('transform: a missing column is named', async (context) => {
  const { service, data } = await prepare(context, table('iris.csv'));
  const path = writeTable(context, 'less.csv', 'sepal_length,sepal_width,petal_lenght,petal_width\n5,3,4,1\n');
  await assert.rejects(service.transform({ job: 't', path, preprocessing: data.preprocessing }), {
    code: 'input.missing_column',
    message: 'less.csv lacks a column the model was trained on: "petal_length".',
    hint: 'Did you mean "petal_lenght"?',
  });
  await assert.rejects(service.transform({ job: 't', path, preprocessing: { version: 2 } }), {
    code: 'input.preprocessing',
  });
});
