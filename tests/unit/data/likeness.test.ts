// Columns that were exchanged are told; those of other or of fewer rows than training's are not taken for such.

import assert from 'node:assert/strict';
import test from 'node:test';
import { likeOthers, spreadOfValues, type Spread, type Spreading } from '../../../engine/data/preprocess/likeness.ts';
import { uniform } from '../../support/table.ts';

const recipeOf = (column: string, spread: Spread): Spreading => ({
  ...{ kind: 'number', column, missing: [], impute: spread.mean, indicator: false },
  ...spread,
});

const trained = [
  recipeOf('age', { mean: 45, deviation: 3 }),
  recipeOf('amount', { mean: 1000, deviation: 60 }),
  recipeOf('size', { mean: 50, deviation: 30 }),
  recipeOf('year', { mean: 1970, deviation: 20 }),
];

/** `places`: the column of training that each is like. */
const told = (places: readonly number[]): readonly string[] =>
  likeOthers(
    trained.map((recipe, at) => ({
      recipe,
      own: { mean: trained[places[at]].mean, deviation: trained[places[at]].deviation },
    })),
  ).map(({ columns }) => columns?.join(' like ') ?? '');

test('two columns that were exchanged are named, and three in a ring', () => {
  assert.deepEqual(told([0, 1, 2, 3]), []);
  assert.deepEqual(told([1, 0, 2, 3]), ['age like amount', 'amount like age']);
  assert.deepEqual(told([1, 3, 2, 0]), ['age like amount', 'amount like year', 'year like age']);
});

test('a column that looks like one which is where it was has not been exchanged', () => {
  assert.deepEqual(told([1, 1, 2, 3]), []);
  // Nor one that looks like a column whose own place nobody took.
  assert.deepEqual(told([1, 3, 2, 3]), []);
});

test('few rows of columns that are mostly zero raise no alarm', () => {
  const random = uniform(7);
  const columns = Array.from({ length: 40 }, (_, at) => ({ rate: 0.02 + 0.01 * at, scale: 1 + (at % 5) }));
  const rows = Array.from({ length: 3000 }, () =>
    columns.map(({ rate, scale }) => (random() < rate ? -Math.log(1 - random()) * scale : 0)),
  );
  const spread = (from: number, to: number, at: number): Spread | null =>
    spreadOfValues(rows.slice(from, to).map((row) => row[at]));
  const recipes = columns.map((_, at) => recipeOf(`c${at}`, spread(0, rows.length, at)!));
  for (let from = 0; from < rows.length; from += 25) {
    assert.deepEqual(likeOthers(recipes.map((recipe, at) => ({ recipe, own: spread(from, from + 25, at) }))), []);
  }
});
