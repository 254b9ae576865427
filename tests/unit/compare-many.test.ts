// Many runs compared: which axes they have, where a run stands on them, what a brush leaves, which runs none beats, the table as a file.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { asEnglish, useRegion } from '../../renderer/lib/format.ts';
import type { Comparison } from '../../renderer/views/compare/compare.svelte.ts';
import {
  axesOf,
  placeOn,
  tableText,
  ticksOf,
  unbeaten,
  withinBrushes,
} from '../../renderer/views/compare/many/axes.ts';
import { createStore } from '../../engine/history/store.ts';
import { viewState } from '../support/view-state.ts';
import { exampleConfig, newRun, point, temporaryHome } from './fixtures/history.ts';

test('axes are the settings that differ, then costs, then scores; a loss is turned so that better is up', async (context) => {
  const store = createStore(temporaryHome(context));
  const runs: RunRecord[] = [];
  for (const [index, learningRate] of [0.1, 0.01, 0.001, 0.0001].entries()) {
    const { training } = exampleConfig;
    const optimizer = { ...training.optimizer, name: index === 3 ? 'sgd' : 'adam', learningRate } as const;
    const config = { ...exampleConfig, training: { ...training, optimizer } };
    const { id } = await store.createRun(newRun({ name: index === 0 ? 'a, "first"' : `run ${index}`, config }));
    const accuracy = [0.9, 0.95, 0.95, 0.5][index];
    await store.append({ run: id, points: [point('val_loss', 1, 1 - accuracy), point('val_accuracy', 1, accuracy)] });
    const times = { secondsElapsed: [10, 20, 30, 5][index], secondsTraining: 1, secondsLeft: 0 };
    const progress = { epoch: 1, epochs: 1, step: 1, steps: 1, examplesPerSecond: 1, loss: 1, ...times };
    runs.push(await store.updateRun({ run: id, patch: { progress, parameters: 99 } }));
  }
  await store.close();
  const axes = axesOf(runs, ['val_accuracy']);
  const titles = axes.map(({ title }) => title);
  assert.ok(titles.includes('learning rate') && titles.includes('optimizer'), titles.join());
  assert.deepEqual(
    titles.slice(-3),
    ['time', 'validation loss', 'validation accuracy'],
    'equal parameters say nothing',
  );
  const [rate, optimizer, time, loss, accuracy] = ['learning rate', 'optimizer', ...titles.slice(-3)].map((title) =>
    axes.find((axis) => axis.title === title)!,
  );
  assert.deepEqual(rate.values, [0.1, 0.01, 0.001, 0.0001]);
  assert.ok(rate.logarithmic && Math.abs(placeOn(rate, 0.01) - 2 / 3) < 1e-9, 'each power of ten takes the same room');
  assert.equal(optimizer.words?.length, 2);
  assert.deepEqual([placeOn(loss, 0.5), placeOn(accuracy, 0.5)], [0, 0], 'the worst stand at the foot');
  assert.deepEqual(ticksOf(time), [5, 10, 20, 30]);

  const brushes = new Map<string, [number, number]>([[accuracy.id, [0.8, 1]]]);
  assert.deepEqual(withinBrushes(axes, brushes, 4), [0, 1, 2]);
  brushes.set(time.id, [0.5, 1]);
  assert.deepEqual(withinBrushes(axes, brushes, 4), [1, 2], 'several brushes together');
  // The third is as good as the second and slower.
  assert.deepEqual(unbeaten(time, accuracy), [3, 0, 1]);

  useRegion({ numbers: 'de-DE', dates: 'de-DE' });
  try {
    const found = axesOf(runs, ['val_accuracy']);
    const same = found.find(({ title }) => title === 'learning rate')!;
    assert.deepEqual(
      [same.values, same.write(0.01)],
      [rate.values, '0,01'],
      'values are read from no region’s writing',
    );
    assert.equal(
      tableText(
        runs,
        asEnglish(() => axesOf(runs, ['val_accuracy'])),
      ),
      tableText(runs, axes),
    );
  } finally {
    useRegion(null);
  }

  const [head, first] = tableText(runs, axes).split('\n');
  assert.ok(head.startsWith('run,name,') && head.endsWith('time,validation loss,validation accuracy'));
  assert.match(first, /^1,"a, ""first""",.*,10,0\.09999999999999998,0\.9$/);
});

test('a run that is not there any more is left out, and the others are compared', async (context) => {
  const store = createStore(temporaryHome(context));
  for (const name of ['a', 'b', 'c']) await store.createRun(newRun({ name }));
  const onRunsChanged = (): (() => void) => () => undefined;
  const service = { ...store, onReport: onRunsChanged, onRunsChanged };
  const open = async (): Promise<Pick<Comparison, 'runs' | 'gone' | 'failure'>> => {
    const comparison = (await viewState(
      'views/compare/compare.svelte.ts',
      'Comparison',
      [1, 9, 3],
      service,
    )) as Comparison;
    comparison.open();
    for (let turn = 0; turn < 50 && comparison.runs.length === 0; turn++) await setImmediate();
    return comparison;
  };
  const { runs, gone, failure } = await open();
  assert.deepEqual([runs.map(({ letter, run }) => letter + run.name), gone, failure], [['Aa', 'Bc'], [9], null]);
  await store.close();
});
