// The charts of a run's page: each of the list has curves and words of a run that kept values for it, and is gone where there are
// none.

import assert from 'node:assert/strict';
import test from 'node:test';
import { metricWord } from '../../renderer/lib/series.ts';
import { chartsInLine, chartsOf, runCharts, type Charted } from '../../renderer/views/run/charts.ts';
import { curvesOf } from '../../renderer/views/run/run-curves.ts';
import { exampleConfig } from './fixtures/history.ts';

const splits = ['train_loss', 'val_loss', 'train_accuracy', 'val_accuracy', 'val_f1'];
const names = [...splits, 'step_loss', 'learning_rate', 'gradient_norm'];
const steps = [10, 20, 30];
const kept = { step: steps, epoch: [1, 2, 3], seconds: [1, 2, 3], value: [0.5, 0.25, 0.125] };
const trained: Charted = {
  run: { best: {}, config: exampleConfig },
  series: new Map(names.map((name) => [name, kept])),
};
const started: Charted = { run: { best: {}, config: exampleConfig }, series: new Map() };

const idsOf = (of: Charted): readonly string[] => chartsOf(of).map(({ chart }) => chart.id);

for (const { id } of runCharts) {
  test(`${id}: has curves and words of a run that kept values for it`, () => {
    const [shown, ...others] = chartsOf(trained).filter(({ chart }) => chart.id === id);
    assert.ok(shown, 'a run with every series has it');
    assert.deepEqual(others, [], 'no other chart has its id');
    for (const metric of shown.metrics) {
      assert.notEqual(metricWord(metric), '');
      const curves = curvesOf(metric, trained.series);
      assert.notEqual(curves.length, 0, metric);
      for (const { x, y } of curves) assert.deepEqual([x, y], [kept.epoch, kept.value]);
    }
    if (shown.metrics.length > 1) assert.ok(shown.chart.choice, 'a choice has a name');
  });
}

test('the mark of the best stands where the record says, also where another epoch scored as well', () => {
  const accuracy = { ...kept, value: [0.5, 1, 1] };
  const series = new Map([['val_accuracy', accuracy]]);
  const [named] = curvesOf('accuracy', series, { val_accuracy: { value: 1, epoch: 3 } });
  assert.equal(named.best, 2);
  assert.equal(curvesOf('accuracy', series)[0].best, 1);
  // Thinned by its own values, the curve of a long run need not have that epoch; one to come is nobody's.
  const thinned = { ...accuracy, epoch: [1, 30, 500] };
  const markAt = (epoch: number): number | undefined =>
    curvesOf('accuracy', new Map([['val_accuracy', thinned]]), { val_accuracy: { value: 1, epoch } })[0].best;
  assert.deepEqual([markAt(29), markAt(31), markAt(501)], [1, 2, 1]);
});

test('before the first value there are the charts that are always there', () => {
  const always = runCharts.filter((chart) => chart.always).map(({ id }) => id);
  assert.deepEqual(idsOf(started), always);
  assert.deepEqual(idsOf(started), ['loss', 'metric']);
  const offered = (of: Charted): readonly string[] => chartsOf(of).find(({ chart }) => chart.id === 'metric')!.metrics;
  assert.deepEqual(offered(started), ['accuracy']);
  assert.deepEqual(offered(trained).slice(0, 2), ['accuracy', 'f1']);
});

test('up to three charts stand side by side, more in two lines', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6].map(chartsInLine), [1, 2, 3, 2, 3, 3]);
});
