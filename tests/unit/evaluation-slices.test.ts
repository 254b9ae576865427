// Where errors gather, which rows are worst, and what errors of numbers look like.

import assert from 'node:assert/strict';
import test from 'node:test';
import { rankingsOf } from '../../engine/evaluation/class-scores.ts';
import { reportClasses } from '../../engine/evaluation/classes.ts';
import { drawCurves, type DrawnCurves } from '../../engine/evaluation/curves.ts';
import { areas } from '../../engine/evaluation/ranking.ts';
import { randomBits } from '../../engine/data/preprocess/split.ts';
import { inSlices } from '../../renderer/lib/steps.ts';
import {
  coverageOf,
  errorHistogram,
  errorsAlong,
  errorsByColumn,
  errorsOf,
  spansDecade,
  usualUnit,
} from '../../engine/evaluation/residuals.ts';
import {
  cutColumns,
  findSlices,
  leastRows,
  rowsOfSlice,
  sliceSteps,
  sliceText,
} from '../../engine/evaluation/slices.ts';
import { shortened } from '../../engine/learners/evaluated-rows.ts';
import { cellText } from '../../engine/model/cell-text.ts';
import { rawCodes } from '../../engine/model/spec.ts';
import { worstClasses, worstValues } from '../../engine/evaluation/worst.ts';
import type { ClassRows, EvaluatedColumns, ValueRows } from '../../engine/protocol/evaluated-rows.ts';

const rows = 1200;
/** A column of categories, one of numbers with gaps, a yes and no, and one that is always the same. */
const columns: EvaluatedColumns = {
  columns: [
    { name: 'contract', kind: 'category', categories: ['monthly', 'yearly', 'rare'] },
    { name: 'tenure', kind: 'number' },
    { name: 'paperless', kind: 'boolean' },
    { name: 'same', kind: 'number' },
  ],
  values: [
    Float64Array.from({ length: rows }, (_, row) => (row < 10 ? 4 : 2 + (row % 2))),
    Float64Array.from({ length: rows }, (_, row) => (row % 12 === 5 ? NaN : (row * 7) % 72)),
    Float64Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 1 : 0)),
    new Float64Array(rows).fill(3),
  ],
};

test('ranges of large values that differ little are written so that they can be told apart', () => {
  const values = Float64Array.from({ length: rows }, (_, row) => 1e12 + (row % 40) / 4);
  const { columns: cut } = cutColumns({ columns: [{ name: 'big', kind: 'number' }], values: [values] });
  assert.equal(new Set(cut[0].labels).size, cut[0].labels.length);
  assert.match(cut[0].labels[0], /^1000000000000–100000000000[12]/);
  const huge = Float64Array.from({ length: rows }, (_, row) => ((row * 7919) % rows) * 1e16 - 6e18);
  const { labels } = cutColumns({ columns: [{ name: 'huge', kind: 'number' }], values: [huge] }).columns[0];
  assert.deepEqual([labels[0], labels[4]], ['−6e18 to −3.61e18', '3.6e18–5.99e18']);
});

test('slices: what is planted is found first, with its rows; small groups are left out', () => {
  // Monthly contracts that are paperless are wrong, others hardly ever.
  const planted = (row: number): boolean => columns.values[0][row] === 2 && columns.values[2][row] === 1;
  const errors = Float64Array.from({ length: rows }, (_, row) => (planted(row) ? 1 : row % 50 === 0 ? 1 : 0));
  const needless = Uint8Array.from(errors, (error, row) => (error === 1 && planted(row) ? 1 : 0));
  const cut = cutColumns(columns);
  assert.deepEqual(
    cut.columns.map(({ name }) => name),
    ['contract', 'tenure', 'paperless'],
  );
  const slices = findSlices(cut, { errors, shares: true, counts: [needless] });
  assert.equal(sliceText(slices[0]), 'contract = monthly, paperless = true');
  assert.deepEqual([slices[0].error, slices[0].high, slices[0].rows === slices[0].sums[0]], [1, 1, true]);
  const found = rowsOfSlice(cut, slices[0]);
  assert.equal(found.length, slices[0].rows);
  assert.ok(found.every((row) => planted(row)));
  assert.ok(slices.every((slice) => slice.rows >= leastRows && slice.low <= slice.error && slice.error <= slice.high));
  assert.ok(slices.every((slice, i) => i === 0 || slice.low <= slices[i - 1].low));
  assert.ok(!slices.some((slice) => sliceText(slice).includes('rare')));
  const near = cutColumns({
    columns: [{ name: 'price', kind: 'number' }],
    values: [Float64Array.from({ length: rows }, (_, row) => 123_451 + (row % 2))],
  });
  assert.deepEqual(near.columns[0].labels, ['= 123451', '= 123452']);
  assert.deepEqual(findSlices(cut, { errors: new Float64Array(rows), shares: true }), []);
  const missing = findSlices(cut, {
    errors: Float64Array.from(columns.values[1], (value) => (Number.isNaN(value) ? 5 : 1)),
    shares: false,
  });
  assert.equal(sliceText(missing[0]), 'tenure missing');
});

const values: ValueRows = {
  ...{ kind: 'values', target: 'price', sources: Uint32Array.from({ length: 200 }, (_, row) => row * 2) },
  truth: Float64Array.from({ length: 200 }, (_, row) => 10 + row),
  predicted: Float64Array.from({ length: 200 }, (_, row) => 10 + row + (row < 100 ? 2 : -1) + ((row * 37) % 11) / 10),
};

test('errors of numbers by range, by column, in all, and whether an interval holds', () => {
  assert.deepEqual([usualUnit(values), spansDecade(values)], ['share', true]);
  const errors = errorsOf(values, 'target');
  const ranges = errorsAlong(values.truth, errors);
  assert.deepEqual(
    ranges.map((range) => range.rows),
    new Array<number>(8).fill(25),
  );
  assert.ok(ranges[0].bias > 2 && ranges[7].bias < 0);
  assert.ok(ranges.every(({ off, interval }) => interval.low <= off && off <= interval.high));
  assert.equal(errorsAlong(new Float64Array(50).fill(1), new Float64Array(50)).length, 1);
  const histogram = errorHistogram(errors);
  assert.equal(
    histogram.counts.reduce((sum, n) => sum + n, histogram.below + histogram.above),
    200,
  );
  assert.equal(
    errorHistogram(new Float64Array(3)).counts.reduce((sum, n) => sum + n, 0),
    3,
  );
  const half = Float64Array.from({ length: 200 }, (_, row) => (row < 100 ? 0 : 1));
  const boxes = errorsByColumn({ columns: [{ name: 'new', kind: 'boolean' }], values: [half] }, 0, errors);
  assert.deepEqual(
    boxes.map(({ label, rows: count }) => [label, count]),
    [
      ['false', 100],
      ['true', 100],
    ],
  );
  assert.ok(boxes[0].tenth <= boxes[0].lower && boxes[0].median > boxes[1].median);
  // Texts group nothing, and are looked at as they begin.
  const long = `${'word '.repeat(100)}end`;
  const codes = Float64Array.from({ length: 200 }, (_, row) => rawCodes.first + (row % 2));
  const texts = shortened({
    columns: [{ name: 'said', kind: 'category', categories: ['short', long], texts: true }],
    values: [codes],
  });
  assert.deepEqual(
    [0, 1].map((row) => cellText(texts.columns[0], texts.values[0][row])),
    ['short', `${long.slice(0, 399)}…`],
  );
  assert.deepEqual(cutColumns(texts), { rows: 200, columns: [] });
  assert.deepEqual(errorsByColumn(texts, 0, errors), []);
  const coverage = coverageOf(values, values);
  assert.ok(Math.abs(coverage.held - 0.8) < 0.02);
  assert.deepEqual(
    worstValues(values, 1, 'share')[0].place,
    [...values.truth.keys()].sort(
      (a, b) => Math.abs(errors[b] / values.truth[b]) - Math.abs(errors[a] / values.truth[a]),
    )[0],
  );
});

test('of a target that crosses 0 the worst rows are the farthest off, not those of the least values', () => {
  const crossing: ValueRows = {
    ...{ kind: 'values', target: 'balance', sources: Uint32Array.of(0, 1, 2, 3) },
    truth: Float64Array.of(0.01, 5, -5, 2),
    predicted: Float64Array.of(-0.5, 9, -2, 2.1),
  };
  const unit = usualUnit(crossing);
  assert.equal(unit, 'target');
  assert.deepEqual(
    worstValues(crossing, 3, unit).map(({ place, error }) => [place, error]),
    [
      [1, 4],
      [2, 3],
      [0, -0.51],
    ],
  );
});

test('worst rows and classes', () => {
  const table: ClassRows = {
    ...{
      kind: 'classes',
      classes: ['a', 'b', 'c'],
      sources: Uint32Array.of(4, 5, 6, 7),
      truth: Int32Array.of(0, 1, 1, 0),
    },
    probabilities: Float64Array.of(0.1, 0.8, 0.1, 0.2, 0.7, 0.1, 0.95, 0.04, 0.01, 0.6, 0.2, 0.2),
  };
  assert.deepEqual(
    worstClasses(table, 5).map(({ place, predicted }) => [place, predicted]),
    [
      [2, 0],
      [0, 1],
    ],
  );
  const reports = reportClasses(Float64Array.of(1, 1, 0, 1, 1, 0, 0, 0, 0), table.classes);
  assert.deepEqual(
    reports.map(({ precision, recall, takenFor }) => [precision, recall, takenFor?.rows ?? null]),
    [
      [0.5, 0.5, 1],
      [0.5, 0.5, 1],
      [null, null, null],
    ],
  );
});

test('slices and curves come in steps that go through the rows once; the window rests between them', async () => {
  const rows = 5000;
  const bit = (row: number, place: number): number => randomBits(3, row * 8 + place) % 6;
  const columns = ['a', 'b', 'c'].map((name) => ({ name, kind: 'number' as const }));
  const values = columns.map((_, c) => Float64Array.from({ length: rows }, (_, row) => bit(row, c)));
  const options = { errors: Float64Array.from({ length: rows }, (_, row) => Number(bit(row, 0) === 2)), shares: true };
  const cut = cutColumns({ columns, values });
  let clock = 0;
  let rests = 0;
  const pace = { now: () => (clock += 5), rest: async () => void rests++ };
  const found = await inSlices(sliceSteps(cut, options), () => true, pace);
  assert.deepEqual(found, findSlices(cut, options));
  // Three columns and three pairs, two steps of 5 ms in each slice of 8 ms.
  assert.equal(rests, 4);
  assert.equal(await inSlices(sliceSteps(cut, options), () => false), null);

  const table: ClassRows = {
    kind: 'classes',
    classes: ['x', 'y', 'z'],
    sources: Uint32Array.from({ length: rows }, (_, row) => row),
    truth: Int32Array.from({ length: rows }, (_, row) => bit(row, 4) % 3),
    probabilities: Float64Array.from({ length: rows * 3 }, (_, i) => bit(i, 5) / 18),
  };
  const drawing = drawCurves(table);
  let steps = 0;
  let last = drawing.next();
  for (; last.done !== true; last = drawing.next()) steps++;
  // A class: its order, its areas, three curves.
  assert.equal(steps, 15);
  const areasOf = rankingsOf(table).map((ranking) => areas(ranking, null));
  assert.deepEqual(
    (last.value as readonly DrawnCurves[]).map((drawn) => drawn.areas),
    areasOf,
  );
});
