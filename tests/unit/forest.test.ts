// Forests: the best split against all there are, drawn cuts, rows drawn with replacement, the loss out of bag, the same bits after a kill.

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { binnerOf, binsOf } from '../../engine/learners/trees/bins.ts';
import { firstShares, forestRaw, growForest, type Forest } from '../../engine/learners/trees/forest.ts';
import { votesOf } from '../../engine/learners/trees/forest-learner.ts';
import { drawer } from '../../engine/learners/trees/sampling.ts';
import type { ForestSetup } from '../../engine/learners/trees/forest-setup.ts';
import { treeFile, treeOf } from '../../engine/learners/trees/tree-files.ts';
import { walkOf } from '../../engine/learners/trees/tree.ts';
import { lossRules } from '../../engine/model/losses.ts';
import type { OutputSpec, RawColumn } from '../../engine/model/spec.ts';
import { uniform } from '../support/table.ts';
import { finishAsync } from '../support/trees.ts';

const cpu = createCpuBackend({ threads: 1 });
after(() => cpu.close());

const kinds: readonly RawColumn[] = [
  { name: 'x', kind: 'number' },
  { name: 'c', kind: 'category', categories: [] },
  { name: 'z', kind: 'number' },
];
const value: OutputSpec = { kind: 'value', name: 'y', offset: 0, scale: 1 };
const classes = (count: number): OutputSpec => ({ kind: 'classes', classes: Array.from({ length: count }, String) });

function setupOf(rows: number, output: OutputSpec, more: Partial<ForestSetup['settings']> = {}): ForestSetup {
  const random = uniform(9);
  const values = [
    Float64Array.from({ length: rows }, () => (random() < 0.2 ? NaN : random())),
    Float64Array.from({ length: rows }, () => 2 + Math.floor(random() * 6)),
    Float64Array.from({ length: rows }, () => Math.floor(random() * 40)),
  ];
  const columns = values.map((sample, i) => binsOf(kinds[i], sample));
  const bins = new Uint8Array(rows * 3);
  const x = Float64Array.from({ length: rows * 3 }, (_, i) => values[i % 3][Math.floor(i / 3)]);
  columns.forEach((column, at) => binnerOf(column)(x, rows, 3, at, bins, 0));
  const K = output.kind === 'classes' ? output.classes.length : 0;
  const targets = Float32Array.from({ length: rows }, (_, row) => {
    const signal = (values[0][row] || 0.9) + (values[1][row] % 2) + 0.1 * random();
    return K === 0 ? signal : Math.min(K - 1, Math.floor((signal / 2.1) * K));
  });
  const train = Math.floor(0.8 * rows);
  const settings = {
    trees: 20,
    minRows: 1,
    depth: 0,
    columns: 3,
    randomCuts: false,
    bootstrap: true,
    seed: 4,
    ...more,
  };
  const all = { rows, width: 3, bins, targets };
  return {
    rows: all,
    columns,
    train,
    validation: rows - train,
    output,
    classWeights: null,
    settings,
    backend: async () => cpu,
  };
}

const empty = (setup: ForestSetup): Forest => ({
  ...{ first: firstShares(setup), trees: [], validationLoss: [], outOfBagLoss: [] },
});
const lossOf = ({ output }: ForestSetup) => {
  const rule = lossRules[output.kind === 'classes' ? 'cross_entropy' : 'mse'];
  return (outputs: Float32Array, targets: Float32Array): number =>
    rule.value(outputs, targets, { labelSmoothing: 0, huberDelta: 1 }, null);
};

async function grownBy(setup: ForestSetup): Promise<Forest['trees']> {
  const forest = empty(setup);
  await finishAsync(growForest(setup, forest, lossOf(setup)));
  return forest.trees;
}

test('trees are the same bits on one thread and several, natively, by WebAssembly alone and by the references', async () => {
  const backends = [
    ...[1, 2, 3].map((threads) => createCpuBackend({ threads })),
    createCpuBackend({ threads: 2, native: false }),
    createReferenceBackend(),
  ];
  for (const [output, settings] of [
    [value, { trees: 5, columns: 2 }],
    [classes(2), { trees: 9, columns: 1, minRows: 2 }],
    [classes(4), { trees: 6, columns: 2, randomCuts: true, bootstrap: false }],
  ] as const) {
    const setup = setupOf(160, output, settings);
    const found = [];
    for (const backend of backends) found.push(await grownBy({ ...setup, backend: async () => backend }));
    for (const trees of found.slice(1)) assert.deepEqual(trees, found[0]);
  }
  for (const backend of backends) await backend.close();
});

test('the first split of a tree is the best of all there are', async () => {
  for (const output of [value, classes(2), classes(4)]) {
    const setup = setupOf(300, output, { depth: 1, minRows: 3, trees: 1 });
    const { rows, columns, train } = setup;
    const K = output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
    const weights = new Float64Array(train);
    const draw = drawer(setup.settings.seed, 'bootstrap', 0);
    for (let i = 0; i < train; i++) weights[draw(train)]++;
    const list = Uint32Array.from(weights.keys()).filter((row) => weights[row] > 0);
    const purity = (chosen: readonly number[]): number => {
      const sums = new Float64Array(K);
      for (const row of chosen) sums[K > 1 ? rows.targets[row] : 0] += weights[row] * (K > 1 ? 1 : rows.targets[row]);
      const weight = chosen.reduce((sum, row) => sum + weights[row], 0);
      return weight < 3 ? -Infinity : sums.reduce((sum, one) => sum + one * one, 0) / weight;
    };
    const sides = (goes: (row: number) => boolean): number =>
      purity([...list].filter(goes)) + purity([...list].filter((row) => !goes(row)));
    let [best, most] = [0, 0];
    columns.forEach((column, at) => {
      const bin = (row: number): number => rows.bins[row * 3 + at];
      for (let cut = 0; column.kind === 'number' && cut < column.bins; cut++) {
        for (const missing of [true, false]) {
          best = Math.max(
            best,
            sides((row) => (bin(row) === column.bins ? missing : bin(row) <= cut)),
          );
        }
      }
      // Of one output the best subset is found; of more only those are tried that one order of the categories allows.
      for (let set = 1; column.kind === 'category' && set < 2 ** column.bins; set++) {
        most = Math.max(
          most,
          sides((row) => ((set >> bin(row)) & 1) === 1),
        );
      }
    });
    most = Math.max(best, most) - purity([...list]);
    best = K === 1 ? most : best - purity([...list]);
    const [tree] = await grownBy(setup);
    assert.equal(tree.column.length, 1);
    if (K === 1) assert.ok(Math.abs(tree.gain[0] - best) < 1e-6, `${tree.gain[0]}, ${best}`);
    else assert.ok(tree.gain[0] > best - 1e-6 && tree.gain[0] < most + 1e-6, `${best}, ${tree.gain[0]}, ${most}`);
  }
});

test('forests and extra trees learn; grown to the end they know their rows; out of bag is near validation', async () => {
  for (const output of [value, classes(2), classes(4)]) {
    for (const randomCuts of [false, true]) {
      const setup = setupOf(1500, output, { randomCuts, trees: 40, columns: 2 });
      const forest = empty(setup);
      await finishAsync(growForest(setup, forest, lossOf(setup)));
      const [first, last] = [forest.validationLoss[0], forest.validationLoss.at(-1)!];
      assert.ok(last < first, `${first} to ${last}`);
      const outside = forest.outOfBagLoss.at(-1)!;
      assert.ok(outside < 2 * last && last < 2 * outside, `out of bag ${outside}, validation ${last}`);
      const whole = setupOf(200, output, { randomCuts, bootstrap: false, trees: 1 });
      const one = empty(whole);
      await finishAsync(growForest(whole, one, lossOf(whole)));
      const [tree] = one.trees;
      const walk = walkOf(tree, whole.columns);
      let right = 0;
      for (let row = 0; row < whole.train; row++) {
        const leaf = walk.leafOf(whole.rows.bins, row * 3);
        const at = tree.spread?.starts[leaf] ?? leaf;
        const answer = tree.spread ? tree.spread.outputs[at] : tree.value[leaf];
        if (Math.abs(answer - whole.rows.targets[row]) < 0.05) right++;
      }
      assert.ok(right > 0.9 * whole.train, `${right} of ${whole.train}`);
      assert.equal(one.outOfBagLoss.length, 0);
    }
  }
});

test('a value missing where a node had none goes the way of most rows', async () => {
  const setup = setupOf(200, value, { depth: 1, minRows: 1, trees: 1, bootstrap: false });
  const { rows } = setup;
  // The first column alone tells: above its bin 1 the target is another, and few rows are below.
  for (const fewLeft of [true, false]) {
    const targets = Float32Array.from(rows.targets, (_, row) => {
      rows.bins.fill(0, row * 3, row * 3 + 3);
      const few = row < 20;
      rows.bins[row * 3] = few === fewLeft ? 0 : 1;
      return few ? 1 : 0;
    });
    const [tree] = await grownBy({ ...setup, rows: { ...rows, targets } });
    assert.deepEqual([tree.column[0], tree.missingLeft[0]], [0, fewLeft ? 0 : 1]);
  }
});

test('rows of a leaf are counted as rows, whatever their classes weigh', async () => {
  // Nine in ten rows weigh 0.55 each: a leaf of one of them is a leaf of one row all the same.
  const random = uniform(6);
  const plain = setupOf(400, classes(2), { bootstrap: false, trees: 1 });
  const targets = plain.rows.targets.map(() => (random() < 0.1 ? 1 : 0));
  const ones = targets.subarray(0, plain.train).reduce((sum, one) => sum + one, 0);
  const classWeights = [plain.train / (2 * (plain.train - ones)), plain.train / (2 * ones)];
  assert.ok(classWeights[0] < 0.6);
  const grown = async (minRows: number): Promise<Forest> => {
    const settings = { ...plain.settings, minRows };
    const weighed: ForestSetup = { ...plain, rows: { ...plain.rows, targets }, classWeights, settings };
    const forest = empty(weighed);
    await finishAsync(growForest(weighed, forest, lossOf(weighed)));
    return forest;
  };
  const [tree] = (await grown(1)).trees;
  const walk = walkOf(tree, plain.columns);
  const same = new Map<string, Set<number>>();
  for (let row = 0; row < plain.train; row++) {
    const key = plain.rows.bins.subarray(3 * row, 3 * row + 3).join();
    same.set(key, (same.get(key) ?? new Set()).add(targets[row]));
  }
  for (let row = 0; row < plain.train; row++) {
    if (same.get(plain.rows.bins.subarray(3 * row, 3 * row + 3).join())!.size > 1) continue;
    assert.equal(tree.value[walk.leafOf(plain.rows.bins, 3 * row)], targets[row], 'grown to the end');
  }
  assert.ok(tree.rows.includes(1));
  assert.ok(Math.min(...(await grown(5)).trees[0].rows) >= 5);
});

test('a forest that was killed goes on bit for bit; no class is impossible', async () => {
  const setup = setupOf(300, classes(3), { columns: 1 });
  const whole = empty(setup);
  await finishAsync(growForest(setup, whole, lossOf(setup)));
  const killed = empty(setup);
  const work = growForest(setup, killed, lossOf(setup));
  while (killed.trees.length < 7) await work.next();
  const read = (file: object) => JSON.parse(JSON.stringify(file)) as ReturnType<typeof treeFile>;
  const resumed: Forest = {
    ...killed,
    trees: killed.trees.map((tree) => treeOf(read(treeFile(tree)), setup.columns, 3)),
  };
  await finishAsync(growForest(setup, resumed, lossOf(setup)));
  assert.deepEqual(resumed.trees.map(treeFile), whole.trees.map(treeFile));
  assert.deepEqual(resumed.outOfBagLoss, whole.outOfBagLoss);
  assert.deepEqual(resumed.validationLoss, whole.validationLoss);
  assert.ok(forestRaw(Float64Array.from(whole.first), 20, setup.output).every(Number.isFinite));
  assert.ok(forestRaw(Float64Array.of(0.3, 20.3), 20, classes(2)).every(Number.isFinite));
});

test('what is explained of two classes adds up to 1, whatever the trees say', () => {
  const output = { kind: 'classes', classes: ['no', 'yes'] } as const;
  const [no, yes] = [0, 1].map((wanted) => votesOf(output, 9, wanted));
  for (const sum of [0, 2.5, 10])
    assert.ok(Math.abs(no.offset + no.factor * sum + yes.offset + yes.factor * sum - 1) < 1e-12, `${sum} of 10`);
  assert.ok(yes.offset === 0 && yes.factor === 0.1);
});

test('trees that were changed are no trees', async () => {
  const setup = setupOf(200, classes(3), { trees: 1 });
  const forest = empty(setup);
  await finishAsync(growForest(setup, forest, lossOf(setup)));
  const file = treeFile(forest.trees[0]);
  const { spread } = file;
  assert.ok(spread);
  const refused = { code: 'model.weights' };
  for (const changed of [
    { left: file.left.with(0, 0) },
    { right: file.right.with(0, file.left[0]) },
    { column: file.column.with(0, 3) },
    { cut: file.cut.with(0, 999) },
    { rows: file.rows.slice(1) },
    { spread: { ...spread, outputs: spread.outputs.with(0, 3) } },
    { spread: { ...spread, counts: spread.counts.slice(1) } },
  ]) {
    assert.throws(
      () => treeOf({ ...file, ...changed }, setup.columns, 3),
      refused,
      JSON.stringify(Object.keys(changed)),
    );
  }
});
