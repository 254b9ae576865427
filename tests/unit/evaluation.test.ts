// Figures of an evaluation: equal to scikit-learn's and SciPy's on fixtures made with them, and sensible where rows are few, tied or one-sided.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calibrationOf } from '../../engine/evaluation/calibration.ts';
import { classScores, confusionOf, rankingsOf } from '../../engine/evaluation/class-scores.ts';
import { medianInterval, resampleCells, wilson } from '../../engine/evaluation/intervals.ts';
import { exactBinomial, holm, pairedTest, rowsToTell, turned } from '../../engine/evaluation/paired.ts';
import { gainCurve, precisionRecallCurve, rocCurve, thinned } from '../../engine/evaluation/ranking.ts';
import {
  cheapestThreshold,
  costOf,
  outcomeAt,
  outcomesByThreshold,
  thresholdScores,
} from '../../engine/evaluation/threshold.ts';
import { trueValue } from '../../engine/learners/evaluated-rows.ts';
import { valueScores } from '../../engine/evaluation/value-scores.ts';
import type { ClassRows, Score, ValueRows } from '../../engine/protocol/evaluated-rows.ts';

interface Fixture {
  two: {
    truth: number[];
    p: number[];
    scores: Record<string, number>;
    confusion: number[][];
    'confusion_at_0.2': number[][];
    roc: { x: number[]; y: number[] };
    pr: { recall: number[]; precision: number[] };
    calibration: { share: number[]; mean: number[] };
  }[];
  many: { truth: number[]; p: number[][]; scores: Record<string, number>; confusion: number[][] }[];
  numbers: { truth: number[]; predicted: number[]; scores: Record<string, number>; mae_interval: [number, number] }[];
  wilson: [number, number, number, number][];
  mcnemar: [number, number, number][];
}

const fixture = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'fixtures/evaluation-sklearn.json'), 'utf8'),
) as Fixture;

const sourcesOf = (rows: number): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);

function twoClasses(truth: readonly number[], p: readonly number[]): ClassRows {
  return {
    ...{ kind: 'classes', classes: ['no', 'yes'], sources: sourcesOf(truth.length), truth: Int32Array.from(truth) },
    probabilities: Float64Array.from(p.flatMap((one) => [1 - one, one])),
  };
}

const manyClasses = (truth: readonly number[], p: readonly (readonly number[])[]): ClassRows => ({
  ...{ kind: 'classes', classes: p[0].map((_, k) => `class ${k}`), sources: sourcesOf(truth.length) },
  ...{ truth: Int32Array.from(truth), probabilities: Float64Array.from(p.flat()) },
});

const values = (truth: readonly number[], predicted: readonly number[]): ValueRows => ({
  ...{ kind: 'values', target: 'price', sources: sourcesOf(truth.length) },
  ...{ truth: Float64Array.from(truth), predicted: Float64Array.from(predicted) },
});

function near(found: number, wanted: number, what: string, tolerance = 1e-9): void {
  assert.ok(Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted)), `${what}: ${found}, not ${wanted}`);
}

const scoreOf = (scores: readonly Score[], name: string): Score =>
  scores.find((score) => score.name === name) ?? assert.fail(`no ${name}`);

const even = { constant: [0.5, 0.5], linear: null };

test('scores of classes are those of scikit-learn, each within its interval', () => {
  const tables = [
    ...fixture.two.map((one) => ({ ...one, table: twoClasses(one.truth, one.p), constant: [0.65, 0.35] })),
    ...fixture.many.map((one) => ({
      ...one,
      table: manyClasses(one.truth, one.p),
      constant: [0.25, 0.25, 0.25, 0.25],
    })),
  ];
  for (const { table, scores: wanted, confusion, constant } of tables) {
    const scores = classScores(table, { constant, linear: table.probabilities });
    for (const [name, value] of Object.entries(wanted)) {
      const score = scoreOf(scores, name);
      near(score.value, value, name);
      assert.ok(score.low < value && value < score.high, `${name}: ${score.low} … ${value} … ${score.high}`);
      near(score.linear ?? NaN, value, `${name} of the same probabilities`);
    }
    assert.deepEqual([...confusionOf(table)], confusion.flat());
    near(scoreOf(scores, 'roc_auc').constant ?? NaN, 0.5, 'area of the answer that is always the same');
    assert.deepEqual(scores, classScores(table, { constant, linear: table.probabilities }), 'the same every time');
  }
});

test('curves and bins are those of scikit-learn', () => {
  for (const { truth, p, roc, pr, calibration } of fixture.two) {
    const table = twoClasses(truth, p);
    const [ranking] = rankingsOf(table);
    const found = rocCurve(ranking);
    assert.equal(found.x.length, roc.x.length);
    roc.x.forEach((x, i) => near(found.x[i], x, 'false alarms') ?? near(found.y[i], roc.y[i], 'found'));
    const precise = precisionRecallCurve(ranking);
    // Beyond the threshold that finds all of them scikit-learn goes on, too.
    pr.recall.forEach((x, i) => near(precise.x[i], x, 'recall') ?? near(precise.y[i], pr.precision[i], 'precision'));
    const bins = calibrationOf(table);
    assert.equal(bins.bins.length, calibration.mean.length);
    bins.bins.forEach((bin, i) => {
      near(bin.probability, calibration.mean[i], 'mean of a bin');
      near(bin.share, calibration.share[i], 'share of a bin');
      assert.ok(bin.low <= bin.share && bin.share <= bin.high);
    });
    const off = bins.bins.reduce((sum, { rows, probability, share }) => sum + rows * Math.abs(probability - share), 0);
    near(bins.error, off / truth.length, 'calibration error');
    const gain = gainCurve(ranking);
    assert.deepEqual([gain.x.at(-1), gain.y.at(-1)], [1, 1]);
    const thin = thinned(found, 20);
    assert.ok(thin.x.length < 45 && thin.x.at(-1) === 1);
  }
});

test('scores of numbers are those of scikit-learn, their intervals those of SciPy but for chance', () => {
  for (const { truth, predicted, scores: wanted, mae_interval: interval } of fixture.numbers) {
    const scores = valueScores(values(truth, predicted), { constant: [1500], linear: null });
    for (const [name, value] of Object.entries(wanted)) {
      const score = scoreOf(scores, name);
      near(score.value, value, name);
      assert.ok(score.low <= value && value <= score.high, name);
      assert.equal(score.linear, null);
    }
    const { low, high } = scoreOf(scores, 'mae');
    const width = interval[1] - interval[0];
    assert.ok(
      Math.abs(low - interval[0]) < width / 10 && Math.abs(high - interval[1]) < width / 10,
      `${low} … ${high}`,
    );
  }
});

test('intervals of shares and the exact test are those of SciPy', () => {
  for (const [hits, rows, low, high] of fixture.wilson) {
    near(wilson(hits, rows).low, low, `low of ${hits} of ${rows}`);
    near(wilson(hits, rows).high, high, `high of ${hits} of ${rows}`);
  }
  for (const [a, b, p] of fixture.mcnemar) near(exactBinomial(Math.min(a, b), a + b), p, `${a} against ${b}`);
});

test('a threshold finds and costs what scikit-learn counts; the cheapest is the cheapest', () => {
  for (const { truth, p, 'confusion_at_0.2': wanted } of fixture.two) {
    const table = twoClasses(truth, p);
    const outcomes = outcomesByThreshold(table);
    const { left, needless, missed, found } = outcomeAt(outcomes, 0.2);
    assert.deepEqual(
      [
        [left, needless],
        [missed, found],
      ],
      wanted,
    );
    assert.deepEqual([left, needless, missed, found], [...confusionOf(table, 0.2)]);
    const costs = { missed: 300, needless: 60 };
    const cheapest = cheapestThreshold(outcomes, costs);
    for (const outcome of outcomes) {
      assert.ok(costOf(outcomeAt(outcomes, cheapest), costs) <= costOf(outcome, costs) + 1e-9);
    }
    const scores = thresholdScores(outcomeAt(outcomes, 0.5), costs);
    const whole = classScores(table, even);
    for (const name of ['accuracy', 'balanced_accuracy', 'f1'] as const) {
      near(scores[name].value, scoreOf(whole, name).value, name);
      // Two ways to draw the same resamples.
      near(scores[name].low, scoreOf(whole, name).low, `low of ${name}`, 0.02);
      near(scores[name].high, scoreOf(whole, name).high, `high of ${name}`, 0.02);
    }
  }
});

test('cells are drawn as rows are', () => {
  const counts = [5, 0, 900, 12_000];
  const mean = [0, 0, 0, 0];
  const square = [0, 0, 0, 0];
  resampleCells(counts, (drawn) => {
    assert.equal(
      drawn.reduce((sum, count) => sum + count, 0),
      12_905,
    );
    drawn.forEach((count, i) => {
      mean[i] += count / 1000;
      square[i] += count ** 2 / 1000;
    });
  });
  counts.forEach((count, i) => {
    const deviation = Math.sqrt(count * (1 - count / 12_905));
    assert.ok(Math.abs(mean[i] - count) <= (4 * deviation) / Math.sqrt(1000), `mean of ${count}: ${mean[i]}`);
    near(Math.sqrt(Math.max(0, square[i] - mean[i] ** 2)), deviation, `deviation of ${count}`, 0.12);
  });
});

test('many rows: the interval of all of them comes from a part', () => {
  const rows = 60_000;
  const truth = Array.from({ length: rows }, (_, row) => ((row * 7919) % 97 < 30 ? 1 : 0));
  const p = truth.map((k, row) =>
    Math.min(0.99, Math.max(0.01, 0.3 + 0.3 * k + (((row * 104729) % 1009) / 1009 - 0.5) * 0.8)),
  );
  const accuracy = scoreOf(classScores(twoClasses(truth, p), even), 'accuracy');
  const deviation = Math.sqrt((accuracy.value * (1 - accuracy.value)) / rows);
  near(accuracy.high - accuracy.low, 2 * 1.96 * deviation, 'width', 0.1 * 4 * deviation);
  assert.ok(accuracy.low < accuracy.value && accuracy.value < accuracy.high);
});

test('one class, one row, ties and certainty: no score that does not exist, none that is no number', () => {
  const oneSided = classScores(twoClasses([0, 0, 0], [0.2, 0.4, 0.1]), { constant: [1, 0], linear: null });
  assert.deepEqual(
    oneSided.map(({ name }) => name),
    ['log_loss', 'brier', 'ece', 'balanced_accuracy', 'accuracy'],
  );
  const single = classScores(twoClasses([1], [0.7]), even);
  assert.equal(scoreOf(single, 'accuracy').value, 1);
  assert.deepEqual([scoreOf(single, 'brier').low, scoreOf(single, 'brier').high], [NaN, NaN]);
  const tied = classScores(twoClasses([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]), even);
  assert.equal(scoreOf(tied, 'roc_auc').value, 0.5);
  assert.equal(scoreOf(tied, 'accuracy').value, 0.5);
  const certain = classScores(twoClasses([0, 1], [1, 0]), even);
  assert.ok(Number.isFinite(scoreOf(certain, 'log_loss').value));
  const three = [
    [0.6, 0.2, 0.2],
    [0.3, 0.5, 0.2],
    [0.1, 0.1, 0.8],
  ];
  const lacking = manyClasses(
    Array.from({ length: 12 }, (_, row) => [0, 0, 2][row % 3]),
    Array.from({ length: 12 }, (_, row) => three[row % 3]),
  );
  for (const score of classScores(lacking, { constant: [0.5, 0.3, 0.2], linear: null })) {
    // Their areas are 1 in every resample: that is no interval.
    const none = score.name === 'roc_auc' || score.name === 'pr_auc';
    assert.ok(Number.isFinite(score.value), score.name);
    assert.ok(
      [score.low, score.high].every((end) => (none ? Number.isNaN(end) : Number.isFinite(end))),
      score.name,
    );
  }
  assert.deepEqual(
    valueScores(values([5], [6]), { constant: [1], linear: null }).map(({ name }) => name),
    ['rmse', 'mae', 'mape', 'within', 'bias'],
  );
  assert.deepEqual(
    valueScores(values([0, 0], [1, -1]), { constant: [0], linear: null }).map(({ name }) => name),
    ['rmse', 'mae', 'bias'],
  );
  assert.deepEqual(medianInterval(Float64Array.of(3)), { low: 3, high: 3 });
});

test('the answer that is always the commonest class stays it wherever the threshold is', () => {
  // Two thirds are of the first class: its constant probability of the second, 0.33, is above the threshold.
  const table = twoClasses([0, 0, 1, 0, 0, 1], [0.1, 0.2, 0.9, 0.3, 0.1, 0.8]);
  const scores = classScores(table, { constant: [2 / 3, 1 / 3], linear: null }, 0.2);
  const constantOf = (name: string): number | null | undefined => scores.find((score) => score.name === name)?.constant;
  assert.deepEqual([constantOf('accuracy'), constantOf('f1'), constantOf('balanced_accuracy')], [4 / 6, 0, 0.5]);
});

test('few rows, and rows all alike, claim no certainty', () => {
  const intervalOf = (scores: readonly Score[], name: string): readonly (number | undefined)[] => {
    const found = scores.find((score) => score.name === name);
    return [found?.low, found?.high].map((value) => Number(value?.toFixed(3)));
  };
  const one = classScores(twoClasses([1], [0.2]), { constant: [0.5, 0.5], linear: null });
  assert.deepEqual(intervalOf(one, 'accuracy'), [0, 0.793], 'Wilson');
  assert.deepEqual(intervalOf(one, 'log_loss'), [NaN, NaN]);
  const truth = Array.from({ length: 40 }, (_, row) => row % 2);
  const right = twoClasses(
    truth,
    truth.map((k) => 0.1 + 0.8 * k),
  );
  const scores = classScores(right, { constant: [0.5, 0.5], linear: null });
  assert.deepEqual(intervalOf(scores, 'accuracy'), [0.912, 1]);
  assert.deepEqual(intervalOf(scores, 'roc_auc'), [NaN, NaN]);
  const moved = thresholdScores(outcomeAt(outcomesByThreshold(right), 0.3), { missed: 1, needless: 1 });
  assert.deepEqual([moved.accuracy.low.toFixed(3), moved.f1.low], ['0.912', NaN]);
  const two = valueScores(values([1, 2], [1.05, 4]), { constant: [1.5], linear: null });
  assert.deepEqual(intervalOf(two, 'r2'), [NaN, NaN]);
  assert.deepEqual(intervalOf(two, 'within'), [0.095, 0.905]);
});

test('two runs on the same rows', () => {
  const truth = Array.from({ length: 412 }, () => 1);
  // The first is wrong on 31 the second has right, the second on 12 the first has right.
  const first = twoClasses(
    truth,
    truth.map((_, row) => (row < 31 ? 0.2 : 0.8)),
  );
  const second = twoClasses(
    truth,
    truth.map((_, row) => (row >= 31 && row < 43 ? 0.2 : 0.8)),
  );
  const found = pairedTest(first, second)!;
  assert.deepEqual([found.rows, found.better, found.worse, found.p.toFixed(4)], [412, 31, 12, '0.0054']);
  assert.equal(found.bothRight, 412 - 31 - 12);
  assert.ok(found.difference.low > 0 && found.difference.value > found.difference.low);
  assert.deepEqual(pairedTest(first, first)?.p, 1);
  const back = pairedTest(second, first)!;
  const { difference, ...rest } = turned(back);
  assert.deepEqual([rest.better, rest.worse, rest.p], [31, 12, found.p]);
  for (const end of ['value', 'low', 'high'] as const)
    assert.ok(Math.abs(difference[end] - found.difference[end]) < 1e-12, end);
  // Rows are matched by their number, whatever their order; others do not count.
  const other = { ...second, sources: sourcesOf(412).map((row) => 700 - row) };
  assert.equal(pairedTest(first, other)?.rows, 123);
  assert.equal(pairedTest(first, { ...second, sources: sourcesOf(412).map((row) => row + 1000) }), null);
  const [{ truth: prices, predicted }] = fixture.numbers;
  const better = pairedTest(
    values(prices, predicted),
    values(
      prices,
      prices.map((price, row) => price + (predicted[row] - price) / 2),
    ),
  )!;
  assert.ok(better.p < 0.01 && better.difference.high < 0 && better.better > 190);
  assert.equal(pairedTest(values(prices, predicted), first), null);
  // The same words for something else are no common ground.
  assert.equal(pairedTest(first, { ...second, truth: second.truth.map(() => 0) }), null);
  assert.equal(pairedTest(values(prices, predicted), { ...values(prices, predicted), target: 'area' }), null);
});

test('many pairs are corrected by Holm (statsmodels gives the same); rows that would settle a difference', () => {
  const corrected = holm([0.01, 0.04, 0.03, 0.005]).map((p) => Number(p.toFixed(12)));
  assert.deepEqual(corrected, [0.03, 0.06, 0.06, 0.02]);
  assert.deepEqual(holm([0.6, 0.7]), [1, 1]);
  assert.deepEqual(holm([]), []);
  // Found at 1.96 errors, where half of all repetitions tell it: four in five take (2.8 / 1.96)² as many rows.
  const known = { rows: 1000, difference: { value: 0.0196, low: 0, high: 0.0392 } };
  assert.equal(rowsToTell(known), 2044);
  assert.equal(rowsToTell({ rows: 10, difference: { value: 0, low: -1, high: 1 } }), null);
});

test('a true value of 0 stays 0 where targets are kept scaled: errors in per cent are told of the others alone', () => {
  const output = { scale: 10_123.7, offset: 51_071.3 };
  const kept = (value: number): number => trueValue(output, Math.fround((value - output.offset) / output.scale));
  assert.equal(kept(0), 0);
  assert.ok(Math.abs(kept(1) - 1) < 0.01 && Math.abs(kept(50_000) - 50_000) < 0.01);
  const truth = [0, 0, 100_000, 50_000].map(kept);
  const scores = valueScores(values(truth, [48_000, 52_000, 90_000, 50_000]), { constant: [51_000], linear: null });
  assert.ok(Math.abs(scores.find(({ name }) => name === 'mape')!.value - 0.05) < 1e-6);
});

test('a model that always says the share of a class is calibrated: what adding up leaves is no error', () => {
  const truth = Array.from({ length: 999 }, (_, i) => Number(i % 3 === 0));
  const table = twoClasses(
    truth,
    truth.map(() => 1 / 3),
  );
  assert.equal(calibrationOf(table).error, 0);
  assert.equal(scoreOf(classScores(table, { constant: [2 / 3, 1 / 3], linear: null }), 'ece').value, 0);
});
