// Trees: bins at edge sizes, the best split against all splits there are, histograms by subtraction, gradients against differences,
// the same bits after a kill, and on odd tables.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { monotoneOf } from '../../engine/learners/boosted/declaration.ts';
import { binnerOf, binsOf, type ColumnBins } from '../../engine/learners/trees/bins.ts';
import {
  boost,
  keptRounds,
  startOf,
  type BoostProblem,
  type BoostSettings,
} from '../../engine/learners/trees/boosting.ts';
import { BoostDevice } from '../../engine/learners/trees/device.ts';
import { addTrees, finish } from '../../engine/learners/trees/ensemble.ts';
import { Grower } from '../../engine/learners/trees/grow.ts';
import { openPredictor } from '../../engine/learners/trees/predictor.ts';
import { sortNumbers } from '../../engine/learners/trees/sort-numbers.ts';
import { objectiveOf, type ObjectiveName } from '../../engine/learners/trees/objectives.ts';
import type { BinnedRows } from '../../engine/learners/trees/rows.ts';
import type { SplitRules } from '../../engine/learners/trees/split.ts';
import { treeFile, treeOf } from '../../engine/learners/trees/tree-files.ts';
import { walkOf } from '../../engine/learners/trees/tree.ts';
import type { OutputSpec, RawColumn } from '../../engine/model/spec.ts';
import { references } from '../../kernels/references.ts';
import { treeLosses } from '../../kernels/trees.ts';
import { uniform } from '../support/table.ts';
import { finishAsync } from '../support/trees.ts';

const cpu = createCpuBackend({ threads: 1 });
const backend = async (): Promise<Backend> => cpu;
after(() => cpu.close());

const value: OutputSpec = { kind: 'value', name: 'y', offset: 0, scale: 1 };
const two: OutputSpec = { kind: 'classes', classes: ['no', 'yes'] };
const three: OutputSpec = { kind: 'classes', classes: ['a', 'b', 'c'] };
const number: RawColumn = { name: 'x', kind: 'number' };
const category: RawColumn = { name: 'c', kind: 'category', categories: [] };

const rules: SplitRules = {
  ...{ l1: 0, l2: 0.5, minGain: 0, minRows: 2, minHessian: 1e-3, catSmooth: 1, catL2: 3, monotone: null },
};
const usual: BoostSettings = {
  ...rules,
  ...{ leaves: 8, depth: 0, trees: 12, learningRate: 0.3, rowFraction: 1, columnFraction: 1, patience: 0, seed: 1 },
};

/** Rows of columns of values, in their bins. */
function binned(values: readonly Float64Array[], kinds: readonly RawColumn[], targets: ArrayLike<number>) {
  const columns = values.map((sample, i) => binsOf(kinds[i], sample));
  const [rows, width] = [values[0].length, values.length];
  const bins = new Uint8Array(rows * width);
  const x = Float64Array.from({ length: rows * width }, (_, i) => values[i % width][Math.floor(i / width)]);
  columns.forEach((column, at) => binnerOf(column)(x, rows, width, at, bins, 0));
  const all: BinnedRows = { rows, width, bins, targets: Float32Array.from(targets) };
  return { rows: all, columns };
}

/** Rows of three columns: numbers with holes, categories, few whole numbers; targets that depend on them. */
function example(rows: number) {
  const random = uniform(7);
  const a = Float64Array.from({ length: rows }, () => (random() < 0.2 ? NaN : random()));
  const b = Float64Array.from({ length: rows }, () => Math.floor(random() * 9));
  const c = Float64Array.from({ length: rows }, () => Math.floor(random() * 4));
  const targets = Array.from(a, (x, i) => (Number.isNaN(x) ? 0.7 : Math.sin(5 * x)) + (b[i] % 3) / 2 - c[i] / 5);
  return { values: [a, b, c], kinds: [number, category, number], targets };
}

function problemOf(rows: number, output: OutputSpec = value, more: Partial<BoostSettings> = {}): BoostProblem {
  const { values, kinds, targets } = example(rows);
  const classes = output.kind === 'classes' ? output.classes.length : 0;
  const truth =
    classes === 0 ? targets : targets.map((target) => Math.max(0, Math.min(classes - 1, Math.round(target))));
  const train = Math.floor(0.8 * rows);
  const objective = objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, output, null);
  const settings = { ...usual, ...more };
  return { ...binned(values, kinds, truth), objective, train, validation: rows - train, settings, backend };
}

test('bins: one value, 255 and more, all missing, infinities', () => {
  const bins = (values: readonly number[]): ColumnBins => binsOf(number, Float64Array.from(values));
  const repeated = (distinct: number, times: number): number[] =>
    Array.from({ length: distinct * times }, (_, i) => i % distinct);
  assert.equal(bins(repeated(1, 9)).bins, 1);
  assert.equal(bins([NaN, NaN]).bins, 1);
  assert.equal(bins(repeated(255, 3)).bins, 255);
  assert.equal(bins(repeated(256, 3)).bins, 255);
  assert.equal(bins(repeated(10_000, 3)).bins, 255);
  const column = bins([-Infinity, -Infinity, -Infinity, 1, 1, 1, Infinity, Infinity, Infinity, NaN]);
  const of = (values: readonly number[]): number[] => {
    const into = new Uint8Array(values.length);
    binnerOf(column)(values, values.length, 1, 0, into, 0);
    return [...into];
  };
  assert.deepEqual(of([-Infinity, 1, Infinity, NaN, 0.9, 2]), [0, 1, 2, 3, 1, 2]);
  assert.deepEqual(JSON.parse(JSON.stringify(column.kind === 'number' && [...column.edges])).includes(null), false);
  // Equal counts: no bin of many values has twice the rows of another.
  const wide = bins(repeated(10_000, 1));
  const into = new Uint8Array(10_000);
  binnerOf(wide)(
    Float64Array.from({ length: 10_000 }, (_, i) => i),
    10_000,
    1,
    0,
    into,
    0,
  );
  const counts = new Array<number>(wide.bins).fill(0);
  for (const bin of into) counts[bin]++;
  assert.ok(Math.min(...counts) >= 38 && Math.max(...counts) <= 41, `${Math.min(...counts)} to ${Math.max(...counts)}`);
  const codes = binsOf(category, Float64Array.from(repeated(300, 2)));
  assert.equal(codes.bins, 255);
});

/** All cuts of a column of numbers, and all sides of what is missing, by sums over the rows themselves. */
function bestByHand(rows: BinnedRows, columns: readonly ColumnBins[], g: Float64Array, h: Float64Array): number {
  const { l2, minRows, minHessian, catL2 } = rules;
  const gain = (goesLeft: (row: number) => boolean, penalty: number): number => {
    const sums = [0, 0, 0, 0, 0, 0];
    for (let row = 0; row < rows.rows; row++) {
      const side = goesLeft(row) ? 0 : 3;
      sums[side] += g[row];
      sums[side + 1] += h[row];
      sums[side + 2]++;
    }
    if (Math.min(sums[2], sums[5]) < minRows || Math.min(sums[1], sums[4]) < minHessian) return 0;
    const whole = (sums[0] + sums[3]) ** 2 / (sums[1] + sums[4] + l2);
    return sums[0] ** 2 / (sums[1] + penalty) + sums[3] ** 2 / (sums[4] + penalty) - whole;
  };
  let best = 0;
  columns.forEach((column, at) => {
    const bin = (row: number): number => rows.bins[row * rows.width + at];
    if (column.kind === 'number') {
      for (let cut = 0; cut < column.bins; cut++) {
        for (const missing of [true, false]) {
          best = Math.max(
            best,
            gain((row) => (bin(row) === column.bins ? missing : bin(row) <= cut), l2),
          );
        }
      }
      return;
    }
    // Every subset.
    for (let set = 1; set < 2 ** column.bins; set++)
      best = Math.max(
        best,
        gain((row) => ((set >> bin(row)) & 1) === 1, l2 + catL2),
      );
  });
  return best;
}

test('the best split is the best of all there are: numbers, missing values, subsets of categories', async () => {
  for (const only of [0, 1, 2]) {
    const { values, kinds, targets } = example(900);
    const { rows, columns } = binned([values[only]], [kinds[only]], targets);
    const objective = objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, value, null);
    const own = { ...usual, leaves: 2 };
    const sizes = { rows: 900, leaves: 2, outputs: 1, loss: objective.device };
    const device = await BoostDevice.open(cpu, rows, columns, own, sizes);
    device.setScores(new Float64Array(900));
    await device.prepare(Uint32Array.from(targets.keys()), 0);
    const work = new Grower(device, columns, own).grow(900, Int32Array.of(0));
    let step = await work.next();
    while (!step.done) step = await work.next();
    const { tree } = step.value;
    const gradient = Float64Array.from(rows.targets, (target) => -target);
    const best = bestByHand(
      rows,
      columns,
      gradient,
      gradient.map(() => 1),
    );
    // Sorted categories are best of all for leaves without their own penalty: Fisher's theorem is about equal penalties.
    const gain = tree.gain[0];
    assert.ok(best > 1);
    // Gradients stand on a grid of 2⁻²³ of the largest.
    if (only === 1) assert.ok(gain <= best + 1e-3 && gain > 0.98 * best, `${gain} of ${best}`);
    else assert.ok(Math.abs(gain - best) < 1e-4, `${gain}, ${best}`);
    assert.equal(tree.rows[0] + tree.rows[1], 900);
    device.dispose();
  }
});

test('trees are the same bits on one thread and several, natively, by WebAssembly alone and by the references', async () => {
  const backends = [
    cpu,
    createCpuBackend({ threads: 3 }),
    createCpuBackend({ threads: 1, native: false }),
    createCpuBackend({ threads: 2, native: false }),
    createReferenceBackend(),
  ];
  const cases: readonly (readonly [OutputSpec, Partial<BoostSettings>])[] = [
    [value, { trees: 5, minRows: 5, leaves: 9 }],
    [two, { trees: 4, rowFraction: 0.7, leaves: 12 }],
    [three, { trees: 3, columnFraction: 0.6, depth: 3 }],
    [value, { trees: 4, monotone: Int8Array.of(1, 0, -1), l1: 0.2, minRows: 20 }],
  ];
  for (const [output, settings] of cases) {
    const found: { readonly trees: readonly object[]; readonly losses: readonly number[] }[] = [];
    for (const one of backends) {
      const problem = { ...problemOf(700, output, settings), backend: async () => one };
      const state = startOf(problem);
      await finishAsync(boost(problem, state));
      found.push({ trees: state.trees.map(treeFile), losses: [state.trainLoss, state.validationLoss].flat() });
    }
    for (const { trees, losses } of found) {
      assert.deepEqual(trees, found[0].trees);
      losses.forEach((loss, i) =>
        assert.ok(Math.abs(loss - found[0].losses[i]) < 1e-12, `${loss}, ${found[0].losses[i]}`),
      );
    }
    // The references use other exponentials and logarithms.
    for (const { losses } of found.slice(0, -1)) assert.deepEqual(losses, found[0].losses);
  }
  for (const one of backends.slice(1)) await one.close();
});

test('a device that is asked answers as the trees do, whatever their number', async () => {
  for (const [output, trees] of [
    [value, 5],
    [three, 4],
  ] as const) {
    const problem = problemOf(700, output, { trees, minRows: 5 });
    const state = startOf(problem);
    await finishAsync(boost(problem, state));
    const K = problem.objective.outputs;
    for (const rows of [1, 513, 700]) {
      const wanted = new Float64Array(rows * K).fill(0.25);
      const predictor = await openPredictor(cpu, state.trees, problem.columns, K, rows);
      const found = wanted.slice();
      await finishAsync(predictor.addBins(problem.rows.bins.subarray(0, rows * 3), found));
      predictor.close();
      finish(addTrees(wanted, K, state.trees, problem.columns, problem.rows, 0, rows));
      assert.deepEqual([...found], [...wanted]);
    }
  }
});

test('many numbers are sorted as few are', () => {
  const random = uniform(23);
  const numbers = Float64Array.from({ length: 9000 }, (_, i) => {
    const wide = (random() - 0.5) * 10 ** (600 * random() - 300);
    return [wide, Math.floor(9 * random()), Infinity, -Infinity, 0, 5e-324, -wide][i % 7];
  });
  const wanted = numbers.toSorted();
  assert.deepEqual(sortNumbers(numbers.slice()), wanted);
  assert.deepEqual(sortNumbers(new Float64Array(5000)), new Float64Array(5000));
});

test('gradients are slopes of the loss, hessians of the gradient', () => {
  const random = uniform(5);
  const names: readonly ObjectiveName[] = ['squared', 'absolute', 'huber', 'quantile', 'poisson'];
  const cases: readonly (readonly [ObjectiveName, OutputSpec])[] = [
    ...names.map((name) => [name, value] as const),
    ['squared', two],
    ['squared', three],
  ];
  for (const [name, output] of cases) {
    const weights = output.kind === 'classes' ? [0.5, 2, 1] : null;
    const objective = objectiveOf({ objective: name, huberDelta: 0.3, quantile: 0.3 }, output, weights);
    const K = objective.outputs;
    const n = 20;
    const classes = output.kind === 'classes' ? output.classes.length : 0;
    const targets = Float32Array.from({ length: n }, () =>
      classes > 0 ? Math.floor(random() * classes) : 3 * random(),
    );
    const scores = Float64Array.from({ length: n * K }, () => 2 * random() - 0.7);
    const list = Uint32Array.from({ length: n }, (_, row) => row);
    let shares: Float64Array | null = null;
    // The kernels' own references; tests/parity holds the devices against them.
    const { device } = objective;
    const params = { rows: n, outputs: K, kind: treeLosses[device.name], classes: device.classes };
    const common = {
      ...{ targets: Float64Array.from(targets), list: Float64Array.from(list) },
      ...{ weights: weights && Float64Array.from(weights), constants: Float64Array.of(...device.constants, 0) },
    };
    const lossAt = (moved: Float64Array): number => {
      const sums = new Float64Array(2);
      references.tree_loss({ ...common, scores: moved, job: Float64Array.of(0, n) }, { sums }, params, 0);
      return sums[0] / sums[1];
    };
    // What scores a model is what it is grown by.
    if (objective.loss) assert.ok(Math.abs(objective.loss(scores, targets) - lossAt(scores)) < 1e-12, name);
    const at = (k: number, moved: Float64Array) => {
      const pairs = new Float64Array(2 * n);
      const inputs = { ...common, scores: moved };
      const outputs = { pairs, shares: (shares ??= new Float64Array(n * K)), maxima: new Float64Array(2) };
      for (const one of K > 1 ? [0, k] : [k]) {
        references.tree_gradients({ ...inputs, job: Float64Array.of(n, one) }, outputs, params, 0);
      }
      return { gradient: pairs.filter((_, i) => i % 2 === 0), hessian: pairs.filter((_, i) => i % 2 === 1) };
    };
    const total = weights ? targets.reduce((sum, target) => sum + weights[target], 0) : n;
    // Half the square's slope is the error itself.
    const factor = name === 'squared' && K === 1 && classes === 0 ? 0.5 : 1;
    const step = 1e-5;
    for (let k = 0; k < K; k++) {
      const { gradient, hessian } = at(k, scores);
      for (let row = 0; row < n; row++) {
        const [up, down] = [1, -1].map((sign) => {
          const moved = scores.slice();
          moved[row * K + k] += sign * step;
          return { loss: lossAt(moved), gradient: at(k, moved).gradient[row] };
        });
        const slope = (factor * total * (up.loss - down.loss)) / (2 * step);
        assert.ok(Math.abs(slope - gradient[row]) < 1e-4, `${name} of ${K}: ${slope}, ${gradient[row]}`);
        const curve = (up.gradient - down.gradient) / (2 * step);
        // Softmax has one output too many, Poisson a longer step; bent losses count as squares.
        const wanted = K > 1 ? (curve * K) / (K - 1) : name === 'poisson' ? curve * Math.exp(0.7) : curve;
        if (classes > 0 || name === 'squared' || name === 'poisson') {
          assert.ok(Math.abs(wanted - hessian[row]) < 1e-4, `${name} of ${K}: ${wanted}, ${hessian[row]}`);
        } else assert.equal(hessian[row], 1);
      }
    }
  }
});

test('boosting learns, stops early with its best round, and each leaf has its rows', async () => {
  for (const output of [value, two, three]) {
    const problem = problemOf(600, output, { patience: 5, trees: 200, minRows: 5 });
    const state = startOf(problem);
    await finishAsync(boost(problem, state));
    const { validationLoss, trainLoss } = state;
    const kept = keptRounds(state, 5);
    assert.ok(trainLoss.length < 200 && trainLoss.length === kept + 5, `${trainLoss.length} rounds, best ${kept}`);
    assert.ok(
      validationLoss[kept - 1] < 0.6 * validationLoss[0],
      `${validationLoss[0]} to ${validationLoss[kept - 1]}`,
    );
    for (const tree of state.trees) {
      assert.equal(
        tree.rows.reduce((sum, rows) => sum + rows, 0),
        problem.train,
      );
      assert.ok(tree.rows.every((rows) => rows >= 5));
      const walk = walkOf(tree, problem.columns);
      const counts = new Float64Array(tree.rows.length);
      for (let row = 0; row < problem.train; row++) counts[walk.leafOf(problem.rows.bins, row * 3)]++;
      assert.deepEqual(counts, tree.rows);
    }
  }
});

test('boosting whose loss leaves all numbers ends there, and keeps up to its best round', async () => {
  for (const share of [0.8, 1]) {
    const problem = problemOf(300, value, { learningRate: 100, trees: 400, minRows: 5 });
    const train = Math.floor(300 * share);
    const state = startOf(problem);
    await finishAsync(boost({ ...problem, train, validation: 300 - train }, state));
    const { divergence, trainLoss, validationLoss, trees } = state;
    assert.deepEqual([divergence?.step, Number.isFinite(divergence?.loss)], [trainLoss.length + 1, false]);
    assert.ok(trainLoss.length < 400 && trainLoss.every(Number.isFinite), `${trainLoss.length} rounds`);
    assert.deepEqual([trees.length, validationLoss.length], [trainLoss.length, share < 1 ? trainLoss.length : 0]);
    const losses = share < 1 ? validationLoss : trainLoss;
    assert.equal(losses[keptRounds(state, 0) - 1], Math.min(...losses));
  }
  const none = { first: Float32Array.of(0), trees: [], trainLoss: [], validationLoss: [] };
  assert.equal(keptRounds({ ...none, divergence: { step: 1, loss: NaN } }, 0), 0);
});

test('a run that was killed goes on bit for bit, with drawn rows and columns', async () => {
  const problem = problemOf(400, three, { rowFraction: 0.7, columnFraction: 0.6 });
  const whole = startOf(problem);
  await finishAsync(boost(problem, whole));
  const killed = startOf(problem);
  const work = boost(problem, killed);
  while (killed.trainLoss.length < 5) await work.next();
  const read = (file: object): object => JSON.parse(JSON.stringify(file)) as object;
  const resumed = {
    ...killed,
    trees: killed.trees.map((tree) => treeOf(read(treeFile(tree)) as ReturnType<typeof treeFile>, problem.columns, 1)),
  };
  await finishAsync(boost(problem, resumed));
  assert.deepEqual(resumed.trainLoss, whole.trainLoss);
  assert.deepEqual(resumed.trees.map(treeFile), whole.trees.map(treeFile));
});

test('what boosting takes of a device it gives back: at its end, stopped on the way, and where something goes wrong', async () => {
  let open = 0;
  const counting = async (): Promise<Backend> => ({
    ...cpu,
    async compile(plan) {
      const executable = await cpu.compile(plan);
      open++;
      return { ...executable, dispose: () => (open--, executable.dispose()) };
    },
  });
  const problem = { ...problemOf(200), backend: counting };
  await finishAsync(boost(problem, startOf(problem)));
  assert.equal(open, 0);
  const stopped = boost(problem, startOf(problem));
  await stopped.next();
  assert.equal(open, 1);
  await stopped.return();
  assert.equal(open, 0);
  const leaf = (): number => {
    throw new RangeError('no leaf');
  };
  const broken = { ...problem, objective: { ...problem.objective, leaf } };
  await assert.rejects(finishAsync(boost(broken, startOf(broken))), /no leaf/);
  assert.equal(open, 0);
});

test('monotone columns: predictions never fall along them; losses that cannot promise it are refused', async () => {
  const random = uniform(11);
  const x = Float64Array.from({ length: 500 }, random);
  const z = Float64Array.from({ length: 500 }, random);
  const targets = Array.from(x, (one, i) => 1 + Math.sin(9 * one) + z[i] + random());
  const { rows, columns } = binned([x, z], [number, number], targets);
  const input = { kind: 'columns', columns: ['x', 'z'].map((name) => ({ ...number, name })) } as const;
  for (const name of ['squared', 'huber', 'poisson', 'absolute', 'quantile'] as const) {
    const wanted = (): Int8Array | null => monotoneOf({ monotone: 'x=+', objective: name }, input, value);
    const objective = objectiveOf({ objective: name, huberDelta: 1, quantile: 0.5 }, value, null);
    // Their leaves take a quantile, whatever stands beside them.
    if (objective.leaf) {
      assert.throws(wanted, { code: 'usage.monotone' });
      assert.equal(monotoneOf({ monotone: 'none', objective: name }, input, value), null);
      continue;
    }
    const settings = { ...usual, trees: 30, monotone: wanted() };
    const problem = { rows, columns, objective, train: 500, validation: 0, settings, backend };
    const state = startOf(problem);
    await finishAsync(boost(problem, state));
    if (name === 'squared') assert.ok(state.trainLoss.at(-1)! < 0.9 * state.trainLoss[0]);
    const walks = state.trees.map((tree) => walkOf(tree, columns));
    for (let b = 0; b <= columns[1].bins; b += 7) {
      let before = -Infinity;
      for (let a = 0; a < columns[0].bins; a++) {
        const leaves = walks.map((walk, t) => state.trees[t].value[walk.leafOf(Uint8Array.of(a, b), 0)]);
        const score = leaves.reduce((sum, leaf) => sum + leaf, 0);
        assert.ok(score >= before - 1e-9, `${name}: ${a}, ${b}`);
        before = score;
      }
    }
  }
});

test('odd tables: constant columns, nothing but missing values, one row, no validation rows', async () => {
  for (const column of [Float64Array.of(1, 1, 1, 1), Float64Array.of(NaN, NaN, NaN, NaN), Float64Array.of(5)]) {
    const { rows, columns } = binned(
      [column],
      [number],
      Float64Array.from(column, (_, i) => i),
    );
    const objective = objectiveOf({ objective: 'auto', huberDelta: 1, quantile: 0.5 }, value, null);
    const problem = {
      rows,
      columns,
      objective,
      train: column.length,
      validation: 0,
      settings: { ...usual, patience: 3 },
      backend,
    };
    const state = startOf(problem);
    await finishAsync(boost(problem, state));
    assert.equal(state.trees.at(0)?.column.length, 0);
    assert.ok(state.trainLoss.every(Number.isFinite));
  }
});
