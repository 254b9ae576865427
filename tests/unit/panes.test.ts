// What panes of the window make of figures and names: tables as files, which curves of many are named, names in which something
// cannot be seen, the order of many rows.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fallingOrder, risingOrder } from '../../engine/evaluation/order.ts';
import { boostedFields, type BoostedConfig } from '../../engine/learners/boosted/declaration.ts';
import type { DrawnCurves } from '../../engine/evaluation/curves.ts';
import type { ColumnInfo } from '../../engine/protocol/data.ts';
import { pretrainedDataset } from '../../engine/protocol/pretrained.ts';
import type { RunRecord, RunResult } from '../../engine/protocol/runs.ts';
import type { EvaluatedRun } from '../../engine/protocol/evaluated-rows.ts';
import { quietOf } from '../../engine/settings/values.ts';
import { breakableParts } from '../../renderer/components/breakable.ts';
import { csvOf } from '../../renderer/components/pane/figures.ts';
import { extremes, lowEnd } from '../../renderer/views/dataset/columns.ts';
import { mostNamed, toggled, weakestClasses } from '../../renderer/views/run/evaluation/named-classes.ts';
import { readable } from '../../renderer/views/run/evaluation/readable.ts';
import { continued, noWayOn, refusal } from '../../renderer/views/run/files/go-on.ts';

test('figures leave as CSV: whole numbers, quoted names, nothing where there is none', () => {
  const rows = [
    ['a, "b"', 1 / 3, null],
    ['c', Number.NaN, 0],
  ] as const;
  assert.equal(csvOf({ columns: ['name', 'x', 'y'], rows }), 'name,x,y\n"a, ""b""",0.3333333333333333,\nc,,0\n');
});

test('of many classes the weakest have names; another one takes the place of the first', () => {
  const curves = [0.9, 0.5, null, 0.7, 0.6, 0.8, 0.95, 0.99, 0.85].map((roc) =>
    roc === null ? null : ({ areas: { roc, pr: 0 } } as DrawnCurves),
  );
  const named = weakestClasses(curves);
  assert.deepEqual(named, [1, 4, 3, 5, 8, 0]);
  assert.equal(named.length, mostNamed);
  assert.deepEqual(toggled(named, 7), [4, 3, 5, 8, 0, 7]);
  assert.deepEqual(toggled(named, 4), [1, 3, 5, 8, 0]);
});

test('a name that hides a character is read with it, in columns, classes and pieces', () => {
  assert.deepEqual(breakableParts('net\u200b_price'), ['net\\u200b_', 'price']);
  const result = {
    rows: { kind: 'classes', classes: ['yes', 'yes\u202e'], sources: [], truth: [], probabilities: [] },
    columns: {
      columns: [{ kind: 'category', name: 'a\u00ad', categories: ['x\ufeff'] }],
      values: [],
      cut: { rows: 0, columns: [{ name: 'a\u00ad', codes: [], labels: ['= x\ufeff'] }] },
    },
  } as unknown as EvaluatedRun;
  const { rows, columns } = readable(result);
  assert.deepEqual(rows.kind === 'classes' && rows.classes, ['yes', 'yes\\u202e']);
  assert.deepEqual(columns?.columns, [{ kind: 'category', name: 'a\\xad', categories: ['x\\ufeff'] }]);
  assert.deepEqual(columns?.cut.columns[0].labels, ['= x\\ufeff']);
});

test('the ends of a column: years without a comma, yes and no by their names', () => {
  const column = { name: 'c', missing: 0, distinct: 2 } as ColumnInfo;
  const numbers = (minimum: number, maximum: number): ColumnInfo => ({
    ...column,
    ...{ type: 'number', histogram: [1], minimum, maximum },
  });
  assert.deepEqual(extremes(numbers(1872, 2010), 10), ['1872', '2010']);
  assert.deepEqual(extremes(numbers(1300, 215_245), 10), ['1,300', '215,245']);
  assert.deepEqual(extremes(numbers(12, 2010), 10), ['12', '2,010']);
  const flags: ColumnInfo = { ...column, type: 'boolean', top: [{ value: 'false', count: 7 }] };
  assert.equal(lowEnd(flags, 10).value, 'no');
});

test('many rows are ordered as few are, with numbers below 0, zeros of both signs and ties', () => {
  const values = Float64Array.from({ length: 6000 }, (_, i) => ((i * 7919) % 4001) - 2000 + (i % 3) / 4);
  values.set([-0, 0, -0, 0, -1e-300, 1e-300, -Infinity, Infinity], 100);
  const rows = [...values.keys()];
  assert.deepEqual(
    [...risingOrder(values)],
    rows.toSorted((a, b) => values[a] - values[b] || a - b),
  );
  assert.deepEqual(
    [...fallingOrder(values)],
    rows.toSorted((a, b) => values[b] - values[a] || a - b),
  );
});

test('why trees cannot grow on is said before anybody asks for more', () => {
  const boosted = { ...quietOf(boostedFields), trees: 60, patience: 2 };
  const config: BoostedConfig = {
    dataset: 'd',
    settings: {},
    device: 'cpu',
    threads: 0,
    seed: 1,
    learner: 'boosted',
    boosted,
  };
  const ended = (reason: RunResult['reason']) => {
    const run = { config, result: { reason } as RunResult };
    return refusal(run, continued(run, 70, {}));
  };
  assert.equal(ended('completed'), undefined);
  assert.match(ended('early_stopped')!, /^It stopped early, after 2 trees without gain: it would stop again at once/);
  assert.match(ended('diverged')!, /^It diverged/);
  const done = { config, state: 'completed', relation: null } as unknown as RunRecord;
  assert.equal(noWayOn(done, 1), undefined);
  assert.match(noWayOn(done, 0)!, /kept nothing/);
  const others = { ...done, config: { ...config, dataset: pretrainedDataset('ab') } };
  assert.match(noWayOn(others, 1)!, /rows it learned from are not here/);
});
