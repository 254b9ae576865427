// Explanations against what is known: functions small enough for every shuffle's worth to be worked out and for every order of the
// columns to be tried.

import assert from 'node:assert/strict';
import test from 'node:test';
import { contributionsOf } from '../../engine/explanation/contributions.ts';
import { correlations } from '../../engine/explanation/correlations.ts';
import { gridOf, partialDependence } from '../../engine/explanation/dependence.ts';
import { byImportance, permutationImportance, spreadOf } from '../../engine/explanation/importance.ts';
import type { Answer, Subject } from '../../engine/explanation/subject.ts';
import { sequentialWords } from '../../engine/optim/random.ts';

const word = sequentialWords(5, 1, 0);
const random = (): number => word() / 2 ** 32;

/** y = 3a + b·c, d does nothing; e is a with a little noise. */
const formula = ([a, b, c]: readonly number[]): number => 3 * a + b * c;

function subjectOf(rows: number): Subject {
  const values = ['a', 'b', 'c', 'd'].map(() => Float64Array.from({ length: rows }, () => random() * 2 - 1));
  const rowOf = (row: number): number[] => values.map((column) => column[row]);
  return {
    columns: ['a', 'b', 'c', 'd'].map((name) => ({ name, kind: 'number' })),
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    values,
    truth: Float64Array.from({ length: rows }, (_, row) => formula(rowOf(row))),
    sources: Uint32Array.from({ length: rows }, (_, row) => row),
  };
}

const answer: Answer = async (columns, rows) =>
  Float64Array.from({ length: rows }, (_, row) => formula(columns.map((column) => column[row])));

test('importance: the loss of a shuffle is what theory says, a column without use costs nothing', async () => {
  const subject = subjectOf(2_000);
  const found = await permutationImportance(subject, answer);
  assert.deepEqual([found.rows, found.of, found.shuffles], [2_000, 2_000, 10]);
  assert.ok(Math.abs(found.scores.rmse) < 1e-12);
  const spread = found.columns.map(({ drops }) => spreadOf(drops.rmse));
  // E[(f − f shuffled)²] = 2·9·Var(a), and 2·Var(b)·E[c²]: uniform on −1 … 1 both are 1/3.
  assert.ok(Math.abs(spread[0].mean - Math.sqrt(6)) < 0.05, String(spread[0].mean));
  assert.ok(Math.abs(spread[1].mean - Math.sqrt(2 / 9)) < 0.03, String(spread[1].mean));
  assert.ok(Math.abs(spread[2].mean - Math.sqrt(2 / 9)) < 0.03, String(spread[2].mean));
  assert.equal(spread[3].mean, 0);
  assert.deepEqual(
    spread.map(({ noise }) => noise),
    [false, false, false, true],
  );
  assert.ok(spread[0].deviation > 0 && spread[0].deviation < 0.1);
  assert.equal(byImportance(found, 'rmse')[0].column, 0);
  assert.deepEqual(await permutationImportance(subject, answer), found, 'the same every time');
});

test('columns that say the same are shuffled as one', async () => {
  const subject = subjectOf(1_000);
  const [a, b] = subject.values;
  const twins: Subject = {
    ...subject,
    values: [a, b, a, b.map((value) => -value)],
    truth: a.map((value, row) => 2 * value + b[row]),
  };
  const sum: Answer = async ([one, two, other], rows) =>
    Float64Array.from({ length: rows }, (_, row) => one[row] + other[row] + two[row]);
  const alone = await permutationImportance(twins, sum);
  const together = await permutationImportance(twins, sum, { together: true });
  assert.deepEqual(
    byImportance(together, 'rmse').map((row) => [row.column, ...row.together]),
    [
      [0, 2],
      [1, 3],
    ],
  );
  // Both of them move: the same shuffle costs twice as much.
  together.columns[0].drops.rmse.forEach((drop, shuffle) =>
    assert.ok(Math.abs(drop - 2 * alone.columns[0].drops.rmse[shuffle]) < 1e-9),
  );
});

test('importance that is stopped keeps the shuffles done, the same number of every column', async () => {
  let asked = 0;
  const subject = subjectOf(4_096);
  const counted: Answer = (columns, rows) => {
    asked++;
    return answer(columns, rows);
  };
  const found = await permutationImportance(subject, counted, { stopped: () => asked > 3 });
  assert.ok(found.shuffles > 0 && found.shuffles < 10);
  for (const { drops } of found.columns) assert.equal(drops.rmse.length, found.shuffles);
});

test('contributions: the Shapley values of every order, within their error, and they add up', async () => {
  const subject = subjectOf(40);
  const row = { values: Float64Array.of(0.9, -0.8, 0.7, 0.5), source: 7, truth: NaN };
  const found = await contributionsOf(subject, answer, row, null);
  const exact = shapley(subject, row.values);
  const sum = found.shares.reduce((total, share) => total + share, 0);
  assert.ok(Math.abs(sum - (found.prediction - found.average)) < 1e-12, `${sum}`);
  assert.ok(Math.abs(found.prediction - formula([...row.values])) < 1e-12);
  assert.equal(found.background, 40);
  exact.forEach((value, column) => {
    const off = Math.abs(found.shares[column] - value);
    assert.ok(off <= 4 * found.errors[column] + 1e-12, `${column}: ${found.shares[column]} is not ${value}`);
  });
  assert.equal(found.shares[3], 0);
  assert.ok(Math.max(...found.errors) < 0.12);
});

/** Over all orders of the columns and all background rows. */
function shapley({ values }: Subject, row: Float64Array): readonly number[] {
  const orders = permutations([0, 1, 2, 3]);
  const shares = [0, 0, 0, 0];
  const rows = values[0].length;
  for (let background = 0; background < rows; background++) {
    for (const order of orders) {
      const now = values.map((column) => column[background]);
      for (const column of order) {
        const before = formula(now);
        now[column] = row[column];
        shares[column] += (formula(now) - before) / (orders.length * rows);
      }
    }
  }
  return shares;
}

function permutations(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

test('dependence: the mean and the curves of single rows; values that a column has', async () => {
  const subject = subjectOf(300);
  const found = await partialDependence(subject, answer, 0, null);
  const products = subject.values[1].reduce((sum, b, row) => sum + b * subject.values[2][row], 0) / 300;
  found.values.forEach((a, g) => assert.ok(Math.abs(found.mean[g] - (3 * a + products)) < 1e-9));
  found.sources.forEach((row, at) => {
    const own = formula([found.values[2], subject.values[1][row], subject.values[2][row]]);
    assert.ok(Math.abs(found.curves[at * found.values.length + 2] - own) < 1e-9);
  });
  assert.equal(found.values[0], Math.min(...subject.values[0]));
  assert.equal(found.values.at(-1), Math.max(...subject.values[0]));
  assert.deepEqual([...gridOf({ kind: 'category' }, Float64Array.of(3, 2, 3, 0))], [3, 0, 2]);
  assert.deepEqual([...gridOf({ kind: 'boolean' }, Float64Array.of(1, NaN, 0, 1))], [0, 1]);
});

test('columns that say the same are named: numbers, categories, and one of each', () => {
  const number = Float64Array.from({ length: 200 }, (_, row) => row % 10);
  const code = Float64Array.from(number, (value) => 2 + Math.floor(value / 5));
  const renamed = Float64Array.from(code, (value) => 5 - value);
  const alone = Float64Array.from({ length: 200 }, random);
  const category = { kind: 'category', categories: ['x', 'y'] } as const;
  const found = correlations({
    columns: [
      { name: 'number', kind: 'number' },
      { name: 'code', ...category },
      { name: 'renamed', ...category },
      { name: 'alone', kind: 'number' },
    ],
    values: [number, code, renamed, alone],
  });
  assert.deepEqual(
    found.map(({ columns }) => columns),
    [
      [1, 2],
      [0, 1],
      [0, 2],
    ],
  );
  assert.ok(Math.abs(found[0].r - 1) < 1e-12 && found[1].r > 0.8 && found[1].r < 1);
});
