// Bands around ROC and precision-recall: as wide as what they are of, and about the curve itself.

import assert from 'node:assert/strict';
import test from 'node:test';
import { curveBands } from '../../engine/evaluation/bands.ts';
import { rank } from '../../engine/evaluation/ranking.ts';

/** Scores of two classes that overlap. */
function made(rows: number) {
  const truth = Int32Array.from({ length: rows }, (_, row) => row % 2);
  const scores = Float64Array.from(truth, (k, row) => 0.3 * k + ((row * 7919) % 997) / 997);
  return rank(scores, truth, 1);
}

function bandsOf(rows: number) {
  const steps = curveBands(made(rows));
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Share of false alarms at 0.2: scores above 0.8 of the others, and so above 0.5 of the wanted. */
const place = 10;

for (const rows of [400, 1_600, 40_000]) {
  test(`of ${rows} rows the bands hold the true curve, as wide as a share of so many has its interval`, () => {
    const { roc, pr } = bandsOf(rows)!;
    assert.equal(roc.x[place], 0.2);
    assert.ok(roc.low[place] < 0.5 && 0.5 < roc.high[place], `${roc.low[place]} … ${roc.high[place]}`);
    // A share of 0.5 of the wanted, moved by where 20 % of the others lie: both are binomial.
    const width = 2 * 1.96 * Math.sqrt((0.25 + 0.16) / (rows / 2));
    const own = roc.high[place] - roc.low[place];
    assert.ok(own > 0.75 * width && own < 1.3 * width, `${own} is not ${width}`);
    // Half of the wanted are found with a fifth of the others.
    const precision = 0.5 / 0.7;
    assert.ok(pr.low[25] < precision && precision < pr.high[25], `${pr.low[25]} … ${pr.high[25]}`);
    for (const { low, high } of [roc, pr])
      assert.ok(low.every((value, i) => value >= 0 && value <= high[i] && high[i] <= 1));
  });
}

test('of a few rows there is no band', () => assert.equal(bandsOf(8), null));
