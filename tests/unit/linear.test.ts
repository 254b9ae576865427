// Linear models: solutions against scikit-learn's and against the conditions that a solution has to fulfil, on odd data too;
// the search for the penalty; training, prediction, stop and resume as a learner.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { columnsOf } from '../../engine/learners/linear/declaration.ts';
import { readDesign, scoresOf, addTransposed, type Design } from '../../engine/learners/linear/design.ts';
import { gradientSize, solveLogistic } from '../../engine/learners/linear/logistic.ts';
import {
  constantWeights,
  nextExponent,
  searchPenalty,
  type PathProblem,
  type Search,
} from '../../engine/learners/linear/path.ts';
import { ridgeSolver, type Solution } from '../../engine/learners/linear/ridge.ts';
import { finish } from '../../engine/learners/linear/work.ts';
import type { OutputSpec } from '../../engine/model/spec.ts';
import { makeImages } from '../support/images.ts';
import { makeTable, uniform } from '../support/table.ts';

interface Fit {
  readonly table: string;
  readonly penalty: number;
  readonly balanced: boolean;
  /** A row a score. */
  readonly weight: readonly (readonly number[])[];
  readonly bias: readonly number[];
}

const fits = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'fixtures/linear-sklearn.json'), 'utf8'),
) as readonly Fit[];

const designOf = (columns: readonly (readonly number[])[], targets: readonly number[]): Design => ({
  rows: columns.length,
  dense: columns[0].length,
  width: columns[0].length,
  x: Float32Array.from(columns.flat()),
  ones: new Uint32Array(0),
  categories: 0,
  targets: Float32Array.from(targets),
});

function standardised(values: readonly number[]): readonly number[] {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0);
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2 / values.length, 0));
  return values.map((value) => (value - mean) / deviation);
}

/** A table of tests/fixtures as scikit-learn was given it. */
function readTable(name: string): { readonly design: Design; readonly classes: number } {
  const file = path.join(import.meta.dirname, `../fixtures/tables/${name}.csv`);
  const cells = fs
    .readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(','));
  const width = cells[0].length - 1;
  const columns = Array.from({ length: width }, (_, i) => standardised(cells.map((row) => Number(row[i]))));
  const rows = cells.map((_, row) => columns.map((column) => column[row]));
  const last = cells.map((row) => row[width]);
  if (name === 'diabetes') return { design: designOf(rows, standardised(last.map(Number))), classes: 0 };
  const names = [...new Set(last)].sort();
  return {
    design: designOf(
      rows,
      last.map((value) => names.indexOf(value)),
    ),
    classes: names.length,
  };
}

const zeros = (design: Design, K: number): Solution => ({
  weight: new Float64Array(design.width * K),
  bias: new Float64Array(K),
});

function close(got: ArrayLike<number>, wanted: readonly number[], tolerance: number, what: string): void {
  assert.equal(got.length, wanted.length, what);
  wanted.forEach((value, i) =>
    assert.ok(
      Math.abs(got[i] - value) <= tolerance * (1 + Math.abs(value)),
      `${what} ${i}: ${got[i]}, wanted ${value}`,
    ),
  );
}

for (const { table, penalty, balanced, weight, bias } of fits) {
  test(`${table}, penalty ${penalty}${balanced ? ', balanced' : ''}: the coefficients are scikit-learn’s`, () => {
    const { design, classes } = readTable(table);
    const K = weight.length;
    const wanted = weight[0].flatMap((_, column) => weight.map((row) => row[column]));
    if (classes === 0) {
      const found = finish(finish(ridgeSolver(design, design.rows)).solve(penalty));
      close(found.weight, wanted, 1e-5, 'weight');
      close(found.bias, bias, 1e-5, 'bias');
      return;
    }
    const counts = Array.from({ length: classes }, (_, k) => design.targets.filter((target) => target === k).length);
    const classWeights = counts.map((count) => (balanced ? design.rows / (classes * count) : 1));
    const problem = { design, rows: design.rows, outputs: K, classWeights, penalty, tolerance: 1e-9 };
    const found = finish(solveLogistic(problem, zeros(design, K)));
    close(found.weight, wanted, 2e-4, 'weight');
    // Those of all classes may move together: only their differences say anything.
    const level = K === 1 ? 0 : found.bias.reduce((sum, value) => sum + value / K, 0);
    const same = K === 1 ? 0 : bias.reduce((sum, value) => sum + value / K, 0);
    close(
      found.bias.map((value) => value - level),
      bias.map((value) => value - same),
      2e-4,
      'bias',
    );
    assert.ok(finish(gradientSize(problem, found)) < 1e-8);
  });
}

/** Largest entry of Xᵀ(y − Xw − b) − penalty · w, which is 0 at the solution, as is the sum of y − Xw − b. */
function ridgeResidual(design: Design, penalty: number, { weight, bias }: Solution): number {
  const residuals = new Float64Array(design.rows);
  scoresOf(design, 0, design.rows, weight, bias, residuals);
  residuals.forEach((score, row) => (residuals[row] = design.targets[row] - score));
  const sum = new Float64Array(design.width);
  addTransposed(design, 0, design.rows, residuals, 1, sum);
  const total = residuals.reduce((all, value) => all + value, 0);
  return Math.max(Math.abs(total), ...sum.map((value, i) => Math.abs(value - penalty * weight[i])));
}

test('ridge: depending and constant columns, more columns than rows, and a system too large to be solved at once', () => {
  const random = uniform(5);
  const row = (length: number): number[] => Array.from({ length }, () => random() * 2 - 1);
  const twins = Array.from({ length: 40 }, () => row(3)).map(([a, b]) => [a, a, b, 7]);
  const depending = designOf(
    twins,
    twins.map(([a, , b]) => 2 * a - b + 3),
  );
  const wide = designOf(
    Array.from({ length: 20 }, () => row(90)),
    row(20),
  );
  const categories: Design = {
    rows: 2_000,
    dense: 1,
    width: 4_001,
    x: Float32Array.from(row(2_000)),
    ones: Uint32Array.from({ length: 2_000 }, () => 1 + Math.floor(random() * 4_000)),
    categories: 1,
    targets: Float32Array.from(row(2_000)),
  };
  for (const [name, design, direct] of [
    ['depending', depending, true],
    ['wide', wide, true],
    ['categories', categories, false],
  ] as const) {
    const solver = finish(ridgeSolver(design, design.rows));
    assert.equal(solver.direct, direct, name);
    for (const penalty of [1e-3, 1, 1e4]) {
      const found = finish(solver.solve(penalty));
      assert.ok(ridgeResidual(design, penalty, found) < 1e-6 * (1 + penalty), `${name}, penalty ${penalty}`);
    }
  }
  const { weight } = finish(finish(ridgeSolver(depending, 40)).solve(1e-3));
  close([weight[0], weight[2], weight[3]], [weight[1], -1, 0], 1e-3, 'of twins each has half, of a constant nothing');
});

test('generalized cross-validation is that of the definition', () => {
  const { design } = readTable('diabetes');
  const few = { ...design, rows: 60 };
  const solver = finish(ridgeSolver(few, 60));
  const penalty = 3;
  const found = finish(solver.solve(penalty));
  // The influence of each target on its own prediction, by differences.
  let trace = 0;
  let squares = 0;
  for (let row = 0; row < 60; row++) {
    const targets = few.targets.slice();
    targets[row] += 1;
    const other = finish(finish(ridgeSolver({ ...few, targets }, 60)).solve(penalty));
    const [before, after] = [new Float64Array(1), new Float64Array(1)];
    scoresOf(few, row, row + 1, found.weight, found.bias, before);
    scoresOf(few, row, row + 1, other.weight, other.bias, after);
    trace += after[0] - before[0];
    squares += (before[0] - few.targets[row]) ** 2;
  }
  close([finish(solver.generalization(penalty, found))], [squares / 60 / (1 - trace / 60) ** 2], 1e-4, 'score');
});

test('the search goes up or down by powers of ten, then half a power beside the best', () => {
  const walk = (lossOf: (exponent: number) => number): number[] => {
    const tried: { exponent: number; loss: number }[] = [];
    for (let next = nextExponent(tried); next !== null; next = nextExponent(tried)) {
      tried.push({ exponent: next, loss: lossOf(next) });
    }
    return tried.map(({ exponent }) => exponent);
  };
  assert.deepEqual(
    walk((exponent) => (exponent - 3) ** 2),
    [0, 2, 4, 3],
  );
  assert.deepEqual(
    walk((exponent) => exponent),
    [0, 2, -2, -4, -6, -5],
  );
  assert.deepEqual(
    walk((exponent) => -exponent),
    [0, 2, 4, 6, 8, 10, 12, 11],
  );
  assert.deepEqual(
    walk(() => 1),
    [0, 2, -2, 1, -1],
  );
});

/** Searches the penalty on rows that are all for training but for the last `validation`. */
function searched(
  design: Design,
  output: OutputSpec,
  validation: number,
  classWeights: ArrayLike<number> | null = null,
): Search {
  const train = design.rows - validation;
  const problem: PathProblem = { design, train, validation, output, classWeights, penalty: 0 };
  const search: Search = { tried: [], best: constantWeights(problem), chosen: -1 };
  finish(searchPenalty(problem, search));
  return search;
}

const classesOf = (count: number): OutputSpec => ({
  kind: 'classes',
  classes: Array.from({ length: count }, (_, k) => `c${k}`),
});

test('odd classes: separable ones, one alone, one that no row has, no row to validate', () => {
  const separable = designOf(
    Array.from({ length: 30 }, (_, i) => [i - 15]),
    Array.from({ length: 30 }, (_, i) => Number(i > 14)),
  );
  const apart = searched(separable, classesOf(2), 6);
  assert.ok([...apart.best.weight, ...apart.best.bias].every(Number.isFinite) && apart.best.weight[0] > 0);

  const alone = searched({ ...separable, targets: new Float32Array(30).fill(1) }, classesOf(2), 6);
  assert.ok(alone.best.weight[0] === 0 && alone.best.bias[0] > 3, 'always that one');

  const missing = searched(separable, classesOf(3), 6);
  const [a, b, c] = missing.best.bias;
  assert.ok([a, b, c].every(Number.isFinite) && c < Math.max(a, b));

  const { design } = readTable('iris');
  const without = searched(design, classesOf(3), 0);
  assert.ok(without.chosen >= 0 && without.tried.length > 3);
  const scores = new Float64Array(design.rows * 3);
  scoresOf(design, 0, design.rows, without.best.weight, without.best.bias, scores);
  const right = design.targets.filter((target, row) => {
    const own = scores.subarray(row * 3, row * 3 + 3);
    return own.indexOf(Math.max(...own)) === target;
  }).length;
  assert.ok(right >= 143, `${right} of 150 iris`);

  const numbers = readTable('diabetes').design;
  const value: OutputSpec = { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const crossed = searched(numbers, value, 0);
  assert.ok(crossed.chosen >= 0);
});

test('penalties are compared by the classes’ weights: rare ones that weigh much choose another', () => {
  const random = uniform(10);
  const targets = Array.from({ length: 200 }, () => Number(random() < 0.12));
  const design = designOf(
    targets.map((target) => [target + 2 * random(), random(), random()]),
    targets,
  );
  const classWeights = [0.2, 5];
  const search = searched(design, classesOf(2), 80, classWeights);
  const problem = { design, rows: 120, outputs: 1, classWeights, penalty: 1, tolerance: 1e-9 };
  const { weight, bias } = finish(solveLogistic(problem, zeros(design, 1)));
  const scores = new Float64Array(80);
  scoresOf(design, 120, 200, weight, bias, scores);
  let [loss, total] = [0, 0];
  scores.forEach((score, i) => {
    const target = targets[120 + i];
    loss += classWeights[target] * Math.log1p(Math.exp(target === 1 ? -score : score));
    total += classWeights[target];
  });
  close([search.tried[0].loss], [loss / total], 1e-3, 'weighted loss at penalty 1, the first');
  assert.equal(search.tried[search.chosen].exponent, 0);
});

test('rows as they were prepared: categories become columns of one 1, pictures means of their squares', async () => {
  const table = makeTable({
    rows: 50,
    numeric: 2,
    classes: 2,
    embeddings: [
      { vocabulary: 7, dimensions: 3 },
      { vocabulary: 5, dimensions: 2 },
    ],
    shardRows: 20,
  });
  const source = { data: table.data, readShard: table.readShard, dataBudget: 1e9 };
  const design = await readDesign(source, 0, async () => undefined);
  assert.deepEqual([design.width, design.dense, columnsOf(table.data.input, 0)], [14, 2, 14]);
  assert.deepEqual([...design.ones.subarray(62, 64)], [2 + table.x[31 * 4 + 2], 9 + table.x[31 * 4 + 3]]);
  assert.deepEqual(design.targets, table.y);
  await assert.rejects(
    readDesign({ ...source, dataBudget: 100 }, 0, async () => undefined),
    { code: 'model.memory' },
  );

  const images = makeImages({ rows: 6, channels: 3, height: 8, width: 8, classes: 2 });
  const pooled = await readDesign(
    { data: images.data, readShard: images.readShard, dataBudget: 1e9 },
    4,
    async () => undefined,
  );
  assert.equal(pooled.width, 48);
  const { mean, deviation } = images.data.normalization!;
  const at = (row: number, channel: number, r: number, c: number): number =>
    images.x[((row * 3 + channel) * 8 + r) * 8 + c] / 255;
  const square = (at(2, 1, 2, 6) + at(2, 1, 2, 7) + at(2, 1, 3, 6) + at(2, 1, 3, 7)) / 4;
  close([pooled.x[2 * 48 + 16 + 7]], [(square - mean[1]) / deviation[1]], 1e-5, 'square');
});

test('dense products of several outputs have the bits of one after the other, on any block of rows', () => {
  const [rows, dense] = [700, 3];
  const next = uniform(1);
  const draw = (count: number): number[] => Array.from({ length: count }, () => Math.fround(next() - 0.5));
  const columns = Array.from({ length: rows }, () => draw(dense));
  const design = designOf(columns, new Array<number>(rows).fill(0));
  for (const K of [2, 4, 7, 9]) {
    const [weight, bias, residuals] = [draw(dense * K), draw(K), Float64Array.from(draw(rows * K))];
    const [scores, sum] = [new Float64Array(rows * K), new Float64Array(dense * K)];
    scoresOf(design, 0, 300, weight, bias, scores.subarray(0, 300 * K));
    scoresOf(design, 300, rows, weight, bias, scores.subarray(300 * K));
    addTransposed(design, 0, rows, residuals, K, sum);
    const expected = { scores: new Float64Array(rows * K), sum: new Float64Array(dense * K) };
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < K; k++) {
        expected.scores[row * K + k] = bias[k];
        for (const [i, value] of columns[row].entries()) {
          expected.scores[row * K + k] += value * weight[i * K + k];
          expected.sum[i * K + k] += value * residuals[row * K + k];
        }
      }
    }
    assert.deepEqual({ scores, sum }, expected, `${K} outputs`);
  }
});
