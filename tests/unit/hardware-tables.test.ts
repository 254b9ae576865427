// How long trees and linear models take: forecasts beside fits that were measured, what a lab changes, and what is said of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { labFits, learnerSpeed, tableSeconds, unmeasuredSpeed } from '../../engine/hardware/tables/speed.ts';
import { tableMemory } from '../../engine/hardware/tables/memory.ts';
import { tableLine } from '../../engine/hardware/tables/task.ts';
import { tableWork, type TableModel, type TableTask } from '../../engine/hardware/tables/work.ts';
import { learnerFits } from '../../engine/bench/learner-fits.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { exampleLab } from './fixtures/lab.ts';

type Learner = 'boosted' | 'forest' | 'extra';

const boosted = { trees: 100, leaves: 31, minRows: 20, patience: 0, rowFraction: 0.8, featureFraction: 0.8 };
const forest = { trees: 100, minRows: 1, nodeFraction: 0, bootstrap: 'yes' } as const;

function modelOf(learner: Learner, trees: number): TableModel {
  if (learner === 'boosted') return { learner, boosted: { ...boosted, trees } };
  return learner === 'forest'
    ? { learner, forest: { ...forest, trees } }
    : { learner, extra: { ...forest, bootstrap: 'no', trees } };
}

/** Real tables, 80 % of their rows trained on: rows, columns, categories among them, bins, classes, trees, seconds of processor time on one thread. */
const measured: readonly (readonly [Learner, string, number, number, number, number, number, number, number])[] = [
  ['boosted', 'concrete', 1030, 8, 0, 1426, 0, 100, 0.073],
  ['forest', 'concrete', 1030, 8, 0, 1426, 0, 40, 0.0243],
  ['extra', 'concrete', 1030, 8, 0, 1426, 0, 40, 0.0245],
  ['boosted', 'spam', 4601, 57, 0, 10352, 2, 100, 0.256],
  ['forest', 'spam', 4601, 57, 0, 10352, 2, 17, 0.0301],
  ['extra', 'spam', 4601, 57, 0, 10352, 2, 17, 0.0482],
  ['boosted', 'credit_data', 4454, 13, 4, 1330, 2, 100, 0.157],
  ['forest', 'credit_data', 4454, 13, 4, 1330, 2, 18, 0.0225],
  ['extra', 'credit_data', 4454, 13, 4, 1330, 2, 18, 0.0298],
  ['boosted', 'letter', 20000, 16, 0, 256, 26, 10, 0.402],
  ['forest', 'letter', 20000, 16, 0, 256, 26, 4, 0.094],
  ['extra', 'letter', 20000, 16, 0, 256, 26, 4, 0.0317],
  ['boosted', 'satellite', 6435, 36, 0, 2806, 6, 17, 0.161],
  ['forest', 'satellite', 6435, 36, 0, 2806, 6, 12, 0.0387],
  ['extra', 'satellite', 6435, 36, 0, 2806, 6, 12, 0.0335],
  ['boosted', 'diamonds', 53940, 9, 3, 1351, 0, 100, 0.351],
  ['forest', 'diamonds', 53940, 9, 3, 1351, 0, 4, 0.137],
  ['extra', 'diamonds', 53940, 9, 3, 1351, 0, 4, 0.139],
  ['boosted', 'ames', 2930, 73, 40, 4365, 0, 100, 0.584],
  ['forest', 'ames', 2930, 73, 40, 4365, 0, 27, 0.168],
  ['extra', 'ames', 2930, 73, 40, 4365, 0, 27, 0.255],
  ['boosted', 'cpssw8', 30000, 4, 2, 62, 0, 100, 0.172],
  ['forest', 'cpssw8', 30000, 4, 2, 62, 0, 4, 0.03],
  ['extra', 'cpssw8', 30000, 4, 2, 62, 0, 4, 0.0176],
  ['boosted', 'vehicle', 846, 18, 0, 1261, 4, 25, 0.038],
  ['forest', 'vehicle', 846, 18, 0, 1261, 4, 40, 0.0143],
  ['extra', 'vehicle', 846, 18, 0, 1261, 4, 40, 0.0172],
  ['boosted', 'wa_churn', 7043, 19, 10, 626, 2, 100, 0.171],
  ['forest', 'wa_churn', 7043, 19, 10, 626, 2, 11, 0.0239],
  ['extra', 'wa_churn', 7043, 19, 10, 626, 2, 11, 0.0318],
];

test('forecasts beside fits of ten real tables, by the processor that all costs are of', () => {
  const factors = measured.map(([learner, name, rows, columns, categories, bins, classes, trees, seconds]) => {
    const [validation, test] = [Math.round(rows / 10), Math.round(rows / 10)];
    const counts = { train: rows - validation - test, validation, test };
    const work = tableWork({ model: modelOf(learner, trees), counts, columns, categories, bins, classes })!;
    return { learner, name, factor: (work.alone + work.shared - 0.03) / seconds };
  });
  const off = (factor: number): number => Math.max(factor, 1 / factor);
  for (const learner of ['boosted', 'forest', 'extra']) {
    const of = factors.filter((one) => one.learner === learner).map(({ factor }) => off(factor));
    assert.ok(
      of.toSorted((a, b) => a - b)[of.length >> 1] < 1.3,
      `${learner}: ${of.map((one) => one.toFixed(2)).join(' ')}`,
    );
  }
  const wide = factors.filter(({ factor }) => off(factor) > 1.5);
  assert.deepEqual(
    wide.map(({ learner, name }) => `${learner} ${name}`),
    ['forest cpssw8', 'extra cpssw8', 'extra vehicle'],
  );
});

const task: TableTask = {
  model: { learner: 'boosted', boosted },
  counts: { train: 80_000, validation: 10_000, test: 10_000 },
  columns: 28,
  classes: 2,
};
const middle = ([low, high]: readonly [number, number]): number => Math.sqrt(low * high);

test('twice the trees take twice the fit, and memory is a byte a value, histograms and trees', () => {
  const fit = (trees: number): number => {
    const work = tableWork({ ...task, model: modelOf('boosted', trees) })!;
    return work.alone - 0.03 + work.shared;
  };
  assert.ok(Math.abs(fit(200) / fit(100) - 2) < 1e-9);
  const memory = tableMemory(task)!;
  assert.equal(memory.rows, 100_000 * 32);
  assert.ok(memory.work > 16 * 255 * 28 * 31 && memory.work < 2e7);
  assert.equal(memory.total, memory.rows + memory.work + memory.model);
  assert.equal(tableMemory({ ...task, model: { learner: 'auto', auto: { minutes: 2 } } }), null);
});

test('a lab’s fits make the forecast of this machine: one thread and all', () => {
  const cpu = exampleLab().devices.find(({ id }) => id === 'cpu')!;
  const fit = (name: string, milliseconds: number) => ({
    ...{ name, unit: 'ms/fit' as const },
    milliseconds: { median: milliseconds, low: milliseconds, high: milliseconds, calls: 15 },
  });
  const [trees, wood, line] = [labFits.boosted, labFits.forest, labFits.linear];
  const one = { ...cpu, id: 'cpu-1', workloads: [trees, wood, line].map((of) => fit(of.name, 500 * of.seconds)) };
  const all = { ...cpu, workloads: [fit(trees.name, 350 * trees.seconds), fit(wood.name, 245 * wood.seconds)] };
  const speed = learnerSpeed([all, one], 4);
  assert.deepEqual(speed.measured, ['boosted', 'forest', 'linear']);
  for (const factor of [speed.boosted, speed.forest, speed.linear]) assert.ok(Math.abs(factor - 0.5) < 1e-9);
  assert.ok(speed.gain.boosted > 1.4 && speed.gain.boosted < 2.2, String(speed.gain.boosted));
  assert.ok(speed.gain.forest > 2.5 && speed.gain.forest < 4, String(speed.gain.forest));
  const quick = middle(tableSeconds(task, speed));
  const slow = middle(tableSeconds(task, unmeasuredSpeed(1)));
  assert.ok(quick < slow / 2 && quick > slow / 4, `${quick} ${slow}`);
  assert.deepEqual(learnerSpeed([all], 4).measured, [], 'a lab without such fits is no measurement of them');
  assert.ok(unmeasuredSpeed(4, 0.15e12).boosted > 1.5, 'a small core is slower');
});

test('a fit that a lab had no time for takes nothing from the others: what was timed is no guess, the rest is', () => {
  const cpu = exampleLab().devices.find(({ id }) => id === 'cpu')!;
  const wood = {
    ...{ name: labFits.forest.name, unit: 'ms/fit' as const },
    milliseconds: { median: 6, low: 6, high: 6, calls: 15 },
  };
  const speed = learnerSpeed([{ ...cpu, id: 'cpu-1', workloads: [wood] }], 4);
  const grown = { ...task, model: modelOf('forest', 100) };
  const [low, high] = tableSeconds(grown, speed);
  assert.ok(Math.abs(high / low - 1.5 ** 2) < 1e-9, 'of forests as of a lab');
  assert.match(tableLine(grown, speed, 0).basis, /^Forecast from the last lab/);
  const [least, most] = tableSeconds(task, speed);
  assert.ok(most / least > 2.2 ** 2, 'of boosting a guess');
  assert.match(tableLine(task, speed, 0).basis, /^Estimated/);
});

test('a forest has its trees side by side: no more threads help than it has trees, and what the host says of them stays with one', () => {
  const grown = (trees: number, threads: number): number =>
    middle(tableSeconds({ ...task, model: modelOf('forest', trees) }, unmeasuredSpeed(threads)));
  const share = grown(100, 8) / grown(100, 1);
  assert.ok(share > 0.4 && share < 0.75, `${share}: growing divides, what the host does not`);
  assert.ok(Math.abs(grown(2, 64) / grown(2, 32) - 1) < 0.05);
});

test('the line says what a person wants to know', () => {
  const speed = unmeasuredSpeed(2);
  assert.match(tableLine(task, speed, 0.5).text, /^CPU: about [\d.]+\u00a0s; trees do not use a GPU$/);
  assert.match(tableLine(task, speed, 0.5).basis, /^Estimated/);
  const early: TableModel = { learner: 'boosted', boosted: { ...boosted, patience: 50 } };
  assert.match(tableLine({ ...task, model: early }, speed, 0.5).text, /^CPU: at most about/);
  const linear: TableModel = { learner: 'linear', linear: { penalty: 0 } };
  assert.match(tableLine({ ...task, model: linear }, speed, 0.5).text, /; linear models do not use a GPU$/);
  const auto: TableModel = { learner: 'auto', auto: { minutes: 5 } };
  assert.match(tableLine({ ...task, model: auto }, speed, 0.5).text, /^About 5\s?min: it looks/);
});

test('the fits of a lab run on a backend', async () => {
  const backend = createCpuBackend({ threads: 1 });
  for (const { open } of learnerFits) {
    const workload = await open(backend);
    await workload.run();
    workload.close();
  }
  await backend.close();
});

test('forecast and advise take trees, linear models and the best of all', async (context) => {
  const home = temporaryHome(context);
  const found = await lastEvent(home, 'forecast', '--model', 'boosted', '--rows', '100000', '--trees', '100');
  const devices = found.devices as readonly { readonly id: string; readonly seconds_per_epoch: readonly number[] }[];
  assert.equal(devices[0].id, 'here-cpu');
  assert.ok(devices.length > 8 && devices[0].seconds_per_epoch[0] < devices[0].seconds_per_epoch[1]);
  assert.equal(found.gpu, 'trees do not use a GPU');
  const advice = await lastEvent(home, 'advise', '--model', 'auto', '--minutes', '30', '--deadline', '0.1');
  const [first] = advice.recommendations as readonly { readonly title: string; readonly meets_deadline: boolean }[];
  assert.deepEqual([first.title, first.meets_deadline], ['Stay on this CPU', false]);
  const { code, stderr } = await trainyard(home, 'forecast', '--model', 'forest', '--minutes', '3');
  assert.equal(code, 2);
  assert.match(stderr, /forest has no --minutes/);
});
