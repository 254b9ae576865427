// Folds: each row is tested once, classes are shared out alike, groups and copies stay together, time goes forward, and nothing is fitted on
// what is not training.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { assignFold, sharesOfFold } from '../../../engine/data/preprocess/folds.ts';
import { assignFoldInOrder, assignGroupFold } from '../../../engine/data/preprocess/ordered-split.ts';
import { stratifiedFolds } from '../../../engine/data/preprocess/groups.ts';
import { spreadOf } from '../../../engine/protocol/folds.ts';
import { parsePreprocessing } from '../../../engine/data/preprocess/recipe.ts';
import { leftOut, randomBits } from '../../../engine/data/preprocess/split.ts';
import type { DatasetSettings, PreparedData } from '../../../engine/protocol/data.ts';
import { importFile, table, writeTable } from './helpers.ts';

const shares = [0.8, 0.1, 0.1] as const;
const all = (of: number): readonly number[] => Array.from({ length: of }, (_, fold) => fold + 1);
const rowsIn = (splits: Uint8Array, split: number): readonly number[] =>
  [...splits.keys()].filter((row) => splits[row] === split);

test('every row is tested once; no fold has more than one row of a class above another', () => {
  const names = ['often', 'seldom', 'rare'];
  const strata = Int32Array.from({ length: 1003 }, (_, row) =>
    row % 97 === 0 ? -1 : row % 10 === 0 ? 1 : row % 89 === 0 ? 2 : 0,
  );
  const folds = all(5).map((number) => assignFold(strata, names, shares, 7, { number, of: 5 }));
  strata.forEach((stratum, row) => {
    const tested = folds.filter((splits) => splits[row] === 2).length;
    assert.equal(tested, stratum < 0 ? 0 : 1, `row ${row}`);
    if (stratum < 0) assert.ok(folds.every((splits) => splits[row] === leftOut));
  });
  for (const stratum of [-1, 0, 1, 2]) {
    const counts = folds.map(
      (splits) => rowsIn(splits, 2).filter((row) => stratum < 0 || strata[row] === stratum).length,
    );
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${stratum}: ${counts.join()}`);
    assert.ok(stratum < 0 || folds.every((splits) => rowsIn(splits, 0).some((row) => strata[row] === stratum)));
  }
  // What is not tested trains and validates as 8 to 1.
  const [train, validation] = [rowsIn(folds[0], 0).length, rowsIn(folds[0], 1).length];
  assert.ok(Math.abs(validation - (train + validation) / 9) < 1.5, `${train} train, ${validation} validate`);
  const [first, second, third] = sharesOfFold(shares, { number: 1, of: 5 });
  assert.ok(Math.abs(first - 0.8 * (8 / 9)) + Math.abs(second - 0.8 / 9) + Math.abs(third - 0.2) < 1e-12);
});

test('the same seed gives the same folds, another seed others', () => {
  const strata = Int32Array.from({ length: 200 }, (_, row) => row % 2);
  const fold = (seed: number) => [...assignFold(strata, ['a', 'b'], shares, seed, { number: 2, of: 4 })];
  assert.deepEqual(fold(3), fold(3));
  assert.notDeepEqual(fold(3), fold(4));
  // Taken down once: others here mean that a fold of yesterday has other rows today.
  const tested = rowsIn(assignFold(new Int32Array(12), null, shares, 1, { number: 1, of: 3 }), 2);
  assert.deepEqual(tested, [2, 4, 7, 10]);
});

test('a group is in one split, and tested once', () => {
  const keys = Float64Array.from({ length: 400 }, (_, row) => randomBits(5, row) % 23);
  const strata = new Int32Array(400);
  const folds = all(4).map((number) => assignGroupFold(keys, strata, shares, 9, { number, of: 4, dealt: 'by class' }));
  for (const splits of folds) {
    const of = new Map<number, number>();
    splits.forEach((split, row) => {
      assert.equal(of.get(keys[row]) ?? split, split, `group ${keys[row]} straddles`);
      of.set(keys[row], split);
    });
    const tested = rowsIn(splits, 2).length;
    assert.ok(tested > 60 && tested < 140 && rowsIn(splits, 1).length > 0, `${tested} tested`);
  }
  keys.forEach((_, row) => assert.equal(folds.filter((splits) => splits[row] === 2).length, 1));
  assert.throws(
    () =>
      assignGroupFold(Float64Array.of(1, 1, 2, 2), new Int32Array(4), shares, 1, {
        number: 1,
        of: 3,
        dealt: 'by class',
      }),
    {
      code: 'input.too_few_groups',
      message: '2 groups are too few for 3 folds.',
    },
  );
});

test('a fold that does not say how its groups were dealt out keeps the rows it had in earlier versions', () => {
  const keys = Float64Array.of(1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7);
  const strata = Int32Array.from(keys, (key) => Number(key > 3));
  // Taken down from the version before groups were dealt out by class.
  const tested = all(3).map((number) => rowsIn(assignGroupFold(keys, strata, shares, 4, { number, of: 3 }), 2));
  assert.deepEqual(tested, [
    [0, 1, 2, 3, 10, 11, 12],
    [6, 7, 13],
    [4, 5, 8, 9],
  ]);
});

test('groups are dealt out so that every fold has its share of each class, as scikit-learn does', () => {
  const [keys, strata]: [number[], number[]] = [[], []];
  for (let group = 0; group < 60; group++) {
    for (let i = 0; i <= group % 7; i++) {
      keys.push(group);
      strata.push(group % 9 === 0 ? 2 : Number((group * group + i) % 5 < 2));
    }
  }
  for (const seed of [1, 2, 3]) {
    const folds = stratifiedFolds(Float64Array.from(keys), Int32Array.from(strata), 5, seed);
    const deviations = [0, 1, 2].map((stratum) => {
      const own = folds.filter((_, row) => strata[row] === stratum);
      return spreadOf(all(5).map((fold) => own.filter((one) => one === fold).length / own.length)).deviation;
    });
    // StratifiedGroupKFold(5, shuffle=True) of scikit-learn 1.9 has 0.0136 to 0.0142 on these rows.
    const mean = deviations.reduce((sum, one) => sum + one, 0) / 3;
    assert.ok(mean < 0.0145, `${mean}`);
    const rows = all(5).map((fold) => folds.filter((one) => one === fold).length);
    assert.ok(Math.max(...rows) - Math.min(...rows) <= 5, rows.join());
  }
});

test('folds in the order of time learn from what came before alone', () => {
  const times = Float64Array.from({ length: 120 }, (_, row) => Math.floor(((row * 37) % 120) / 2));
  const folds = all(5).map((number) => assignFoldInOrder(times, new Int32Array(120), shares, { number, of: 5 }));
  let before = -1;
  for (const splits of folds) {
    const [train, validation, tested, later] = [0, 1, 2, leftOut].map((split) =>
      rowsIn(splits, split).map((row) => times[row]),
    );
    assert.ok(Math.max(...train) < Math.min(...validation) && Math.max(...validation) < Math.min(...tested));
    assert.ok(later.length === 0 || Math.max(...tested) < Math.min(...later));
    assert.ok(train.length > before, 'the window grows');
    before = train.length;
  }
  const counts = times.map((_, row) => folds.filter((splits) => splits[row] === 2).length);
  assert.deepEqual(
    [counts.filter((count) => count === 1).length, counts.filter((count) => count === 0).length],
    [100, 20],
  );
});

async function prepareFold(context: TestContext, path: string, settings: DatasetSettings): Promise<PreparedData> {
  const { service, info } = await importFile(context, path);
  return service.prepare({ job: 'prepare', dataset: info.id, options: { settings, seed: 1 } });
}

const testedIn = ({ counts, sources }: PreparedData): readonly number[] => [
  ...sources!.subarray(counts.train + counts.validation),
];

test('what is not training changes nothing that is fitted', async (context) => {
  const settings = { target: 'y', fold: { number: 2, of: 3 } };
  const line = (row: number, x: number) => `${x},${row % 2 ? 'yes' : 'no'}`;
  const text = (change: (row: number) => number) =>
    ['x,y', ...Array.from({ length: 90 }, (_, row) => line(row, change(row)))].join('\n');
  const plain = (row: number): number => ((row * 31) % 90) + 0.5;
  const data = await prepareFold(context, writeTable(context, 'plain.csv', text(plain)), settings);
  const rest = new Set([...data.sources!.subarray(data.counts.train)]);
  assert.deepEqual(data.counts, { train: 53, validation: 7, test: 30 });
  const moved = text((row) => plain(row) + (rest.has(row) ? 1000 : 0));
  const other = await prepareFold(context, writeTable(context, 'moved.csv', moved), settings);
  assert.deepEqual(other.sources, data.sources, 'the same folds');
  assert.deepEqual(parsePreprocessing(other.preprocessing).features, parsePreprocessing(data.preprocessing).features);
});

test('copies are in one fold; a real table is tested row by row', async (context) => {
  const { service, info } = await importFile(context, table('iris.csv'));
  const seen = new Map<number, number>();
  for (const number of all(5)) {
    const options = { settings: { fold: { number, of: 5 } }, seed: 1 };
    const data = await service.prepare({ job: 'prepare', dataset: info.id, options });
    assert.equal(
      data.warnings.some(({ code }) => code === 'shared_rows'),
      false,
      'no row learns its copy',
    );
    for (const row of testedIn(data)) seen.set(row, (seen.get(row) ?? 0) + 1);
    await service.release({ handle: data.handle });
  }
  assert.deepEqual([seen.size, Math.max(...seen.values())], [150, 1]);
});

test('fewer rows of a class than folds are refused by name', async (context) => {
  const rows = Array.from({ length: 40 }, (_, row) => `${row + 0.25},${row < 3 ? 'gold' : row % 2 ? 'tin' : 'iron'}`);
  const path = writeTable(context, 'metals.csv', ['weight,metal', ...rows].join('\n'));
  await assert.rejects(prepareFold(context, path, { target: 'metal', fold: { number: 1, of: 5 } }), {
    code: 'input.too_few_for_folds',
    message: 'The class “gold” has 3 different rows: too few for 5 folds.',
    hint: 'Take 3 folds at most, or add rows.',
  });
});
