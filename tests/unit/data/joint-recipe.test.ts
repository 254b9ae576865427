// Rows for models of folds: what the columns of all rows become by the recipe of a fold, and by way of the joint one, is what that fold itself
// made of them, although each fold knows other categories, and one of them a column less.

import assert from 'node:assert/strict';
import test from 'node:test';
import { jointRecipe } from '../../../engine/data/preprocess/joint-recipe.ts';
import { modelledRows } from '../../../engine/data/preprocess/modelled-rows.ts';
import { parsePreprocessing } from '../../../engine/data/preprocess/recipe.ts';
import type { PreparedData, RowForm, Shard } from '../../../engine/protocol/data.ts';
import { importFile, writeTable } from './helpers.ts';

interface Rows {
  readonly data: PreparedData;
  readonly readShard: (shard: number) => Promise<Shard>;
}

/** By their number in the dataset. */
async function rowsBySource({ data, readShard }: Rows): Promise<ReadonlyMap<number, readonly number[]>> {
  const found = new Map<number, readonly number[]>();
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const { x, rows } = await readShard(shard);
    for (let row = 0; row < rows; row++) {
      const source = data.sources![data.shardStarts[shard] + row];
      found.set(source, [...x.subarray(row * data.width, (row + 1) * data.width)]);
    }
  }
  return found;
}

test('whole rows become those of each fold, to the last bit', async (context) => {
  const rows = Array.from({ length: 90 }, (_, i) => {
    // Some categories stand in one row alone, and `once` has a value in one row alone: the fold that tests it knows nothing of it.
    const town = i % 9 === 0 ? `rare ${i}` : ['Lima', 'Bonn', ''][i % 3];
    const gap = i % 7 === 0 ? '' : ((i * 37) % 50) / 4;
    return `${i % 4},${town},street ${(i * 7) % 25},${gap},2024-0${1 + (i % 9)}-11,${i === 41 ? 5 : 1},${(i * 31) % 17}`;
  });
  const path = writeTable(context, 'small.csv', `a,town,street,gap,day,once,y\n${rows.join('\n')}\n`);
  const settings = { target: 'y', task: 'regression' } as const;
  const { service, info } = await importFile(context, path, undefined, settings);
  const prepare = async (options: object, form: RowForm): Promise<Rows> => {
    const data = await service.prepare({
      job: 'prepare',
      dataset: info.id,
      options: { seed: 3, forms: [form], ...options } as never,
    });
    return { data, readShard: (shard) => service.readShard({ handle: data.handle, shard }) };
  };
  const whole = await prepare({ settings: { ...settings, split: [1, 0, 0] } }, 'columns');
  for (const form of ['matrix', 'columns'] as const) {
    const folds = [1, 2, 3].map((number) => prepare({ settings: { ...settings, fold: { number, of: 3 } } }, form));
    const made = await Promise.all(folds);
    const recipes = made.map(({ data }) => parsePreprocessing(data.preprocessing));
    const joint = jointRecipe(recipes);
    const columns = recipes.map(({ features }) => features.map(({ column }) => column).join());
    assert.equal(new Set(columns).size, 2, 'one fold knows a column less');
    assert.ok(joint.features.length === 6 && joint.form === 'columns');
    const categories = new Set(joint.features.flatMap((one) => ('categories' in one ? one.categories : [])));
    assert.equal(
      categories.size,
      info.columns[1].distinct + info.columns[2].distinct,
      'every category that a fold knows',
    );
    const { offset, scale } = joint.target as { readonly offset: number; readonly scale: number };
    const targets = recipes.map(({ target }) => target as { readonly offset: number; readonly scale: number });
    assert.ok(Math.abs(targets.reduce((sum, one) => sum + one.offset, 0) / 3 - offset) < 1e-12);
    assert.ok(new Set(targets.map((one) => one.scale)).size === 3 && scale > 0);
    for (const [at, fold] of made.entries()) {
      const wanted = await rowsBySource(fold);
      for (const from of [whole, modelledRows(whole, joint)]) {
        const again = modelledRows(from, recipes[at]);
        assert.deepEqual(again.data.input, fold.data.input);
        const found = await rowsBySource(again);
        assert.equal(found.size, 90);
        for (const [source, values] of wanted) assert.deepEqual(found.get(source), values, `${form}, row ${source}`);
      }
    }
    const same = modelledRows(made[0], recipes[0]);
    assert.ok(form === 'matrix' || same === made[0], 'rows that are so already are left alone');
  }
});
