// The confusion matrix as it is drawn: what is right, what is wrong, and which classes are shown where there are too many.

import assert from 'node:assert/strict';
import test from 'node:test';
import { classScores } from '../../engine/train/metrics.ts';
import { firstCell, matrixOf, mostClasses } from '../../renderer/views/run/classes/matrix.ts';

const evaluation = (confusion: readonly (readonly number[])[]) => ({
  metrics: {},
  confusion,
  classes: classScores(
    confusion,
    confusion.map((_, k) => `class ${k}`),
  ),
});

test('right cells are measured by the largest right one, wrong cells by the largest wrong one', () => {
  const matrix = matrixOf(
    evaluation([
      [50, 2, 0],
      [4, 25, 0],
      [0, 1, 9],
    ]),
  );
  assert.equal(matrix?.rows, 91);
  assert.equal(matrix?.mistakes, 7);
  assert.equal(matrix?.strength(1, 1), 0.5);
  assert.equal(matrix?.strength(1, 0), 1);
  assert.equal(matrix?.strength(2, 1), 0.25);
});

test('of very many classes the most confused are shown, in their order', () => {
  const classes = mostClasses + 6;
  const confusion = Array.from({ length: classes }, (_, k) =>
    Array.from({ length: classes }, (_, other): number => (other === k ? 10 : 0)),
  );
  confusion[classes - 1][2] = 3;
  const shown = matrixOf(evaluation(confusion))?.shown ?? [];
  assert.equal(shown.length, mostClasses);
  assert.deepEqual(
    [...shown].sort((a, b) => a - b),
    shown,
  );
  assert.ok(shown.includes(2) && shown.includes(classes - 1));
});

test('numbers as targets have no matrix', () => {
  assert.equal(matrixOf({ metrics: { r2: 0.5 } }), null);
  assert.equal(matrixOf(undefined), null);
});

test('the commonest mistake is looked at first; without one, what was recognised', () => {
  assert.deepEqual(firstCell([5, 1, 0, 2, 3, 0, 0, 2, 4], 3), { truth: 1, predicted: 0 });
  assert.deepEqual(firstCell([0, 0, 0, 3], 2), { truth: 1, predicted: 1 });
  assert.equal(firstCell([0, 0, 0, 0], 2), null);
});
