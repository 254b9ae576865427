// The lessons: each answers over its whole control, with this machine's figures where a lab has them, and says which they are.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lessonOf, lessons } from '../../engine/hardware/lessons/lessons.ts';
import type { LabDevice, LabResult, Sample } from '../../engine/protocol/lab.ts';
import { exampleLab } from './fixtures/lab.ts';

const samples = (...pairs: readonly (readonly [number, number])[]): Sample[] =>
  pairs.map(([at, median]) => ({ at, value: { median, low: median, high: median, calls: 15 } }));
const [base] = exampleLab().devices;
const cpu: LabDevice = {
  ...base,
  threads: 4,
  scaling: { product: 1024, samples: samples([1, 50], [2, 98], [4, 180]) },
};
const lab: LabResult = { ...exampleLab(), devices: [cpu] };
const of = (id: string) => lessons.find((lesson) => lesson.id === id)!;

test('every lesson answers at the ends of its control, with finite curves, measured or not', () => {
  assert.equal(lessons.length, 7);
  for (const { id, view, next } of lessons) {
    assert.ok(
      next.every((other) => lessons.some((lesson) => lesson.id === other)),
      id,
    );
    for (const known of [null, lab]) {
      const { control, at, basis, why } = view(known);
      assert.ok(basis.length > 0 && why.length > 0, id);
      for (const value of [control.minimum, control.initial, control.maximum]) {
        const { text, curves } = at(value);
        assert.doesNotMatch(text, /NaN|Infinity|undefined/, id);
        for (const { x, y } of curves) assert.ok(x.length === y.length && y.every((each) => Number.isFinite(each)), id);
      }
    }
  }
});

test('a product over the cores is what was measured', () => {
  const view = of('split').view(lab);
  assert.equal(view.basis, 'Measured here.');
  // 2 · 10⁹ FLOP at 98 GFLOP/s.
  assert.match(view.at(2).text, /^20\.4 ms, 98 GFLOP\/s, 1\.96 × one thread, 98 % efficient$/);
  assert.match(view.why, /3\.6 ×: 3\.7 %/);
});

test('Amdahl and Gustafson at a tenth, by hand', () => {
  const { text } = of('amdahl').view(null).at(10);
  // 1 / (0.1 + 0.9 / 64); 0.1 + 64 · 0.9.
  assert.match(text, /8\.77 × as fast, never more than 10 ×; a growing one 57\.7 ×$/);
});

test('a claim leads to the lesson that explains it', () => {
  assert.equal(lessonOf('sixteen-bits')!.id, 'bits');
  assert.equal(lessonOf('text'), null);
});
