// Trees as ONNX: whatever a tree may ask, onnxruntime sends every cell the way our own walk does. Values lie at the edges of the bins and
// one float64 beside them; texts are categories, spelled with spaces, missing or unknown.

import assert from 'node:assert/strict';
import test from 'node:test';
import { InferenceSession, Tensor, env } from 'onnxruntime-web/wasm';
import { RowEncoder } from '../../engine/data/preprocess/encode.ts';
import { inputSpec, type Preprocessing } from '../../engine/data/preprocess/recipe.ts';
import { relativeDifferences } from '../../engine/export/certificate.ts';
import { exportOnnx } from '../../engine/export/onnx/model.ts';
import { boostedFields } from '../../engine/learners/boosted/declaration.ts';
import { predictRows } from '../../engine/learners/predict.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import type { ObjectiveName } from '../../engine/learners/trees/objectives.ts';
import type { ColumnFile, TreeFile } from '../../engine/learners/trees/model-schema.ts';
import { TreeBuilder } from '../../engine/learners/trees/tree.ts';
import { treeFile } from '../../engine/learners/trees/tree-files.ts';
import { rawCodes, type OutputSpec } from '../../engine/model/spec.ts';
import type { ModelFile } from '../../engine/protocol/model-file.ts';
import { quietOf } from '../../engine/settings/values.ts';
import { uniform } from '../support/table.ts';

env.wasm.numThreads = 1;

const day = 86_400_000;
const categories = Array.from({ length: 90 }, (_, i) => `city ${i}`);
const number = { missing: [], impute: 0, mean: 0, deviation: 1, indicator: false };
const recipe: Preprocessing = {
  version: 1,
  form: 'columns',
  features: [
    { kind: 'number', column: 'x', ...number },
    { kind: 'one_hot', column: 'city', missing: ['none'], categories, indicator: true },
    { kind: 'boolean', column: 'member', missing: [], impute: 0, indicator: false },
    { kind: 'datetime', column: 'when', ...number, parts: [] },
    { kind: 'embedding', column: 'code', missing: [], categories: ['3', 'a, b'], dimensions: 2 },
  ],
  target: { kind: 'value', column: 'y', missing: [], offset: 0, scale: 1 },
  leftOut: [],
};

const edges = [-1e149, -3.3, -0.1, 0, 0.1, 0.1 + 1e-9, 1 / 3, 16_777_217.5, 1e149];
const times = [0, 1, 5, 20_000].map((days) => days * day + 0.5);
const columns: readonly ColumnFile[] = [
  { kind: 'number', edges },
  // Some categories have no bin of their own, and what is missing has one.
  { kind: 'category', codes: [rawCodes.missing, ...categories.slice(0, 80).map((_, i) => i + rawCodes.first)] },
  { kind: 'number', edges: [0.5] },
  { kind: 'number', edges: times },
  { kind: 'category', codes: [rawCodes.first, rawCodes.first + 1] },
];

/** Neighbours of a float64. */
const beside = (value: number): number[] => {
  const view = new BigInt64Array(Float64Array.of(value).buffer);
  return [-1n, 0n, 1n].map((step) => new Float64Array(BigInt64Array.of(view[0] + step).buffer)[0]);
};

const xs = [...edges.flatMap((edge) => (edge === 0 ? [0, -0, 5e-324] : beside(edge))), NaN, Infinity, -1e151, 7];
const whens = [...times.flatMap(beside), NaN, -5 * day];
/** Words for "missing" that training had none of. */
const absent = ['NA', 'null', 'nan', 'NaN', 'N/A', '-', '?', '\u00a0'];
const cities = [...categories, '', 'none', ...absent, 'Nowhere', ' city 3  ', 'city  4'];
const members = ['yes', 'no', '', 'what', 'TRUE '];
const codes = ['3', '3.0', 'a, b', '', 'z', 'NULL', 'nil'];

const N = 1500;
const random = uniform(11);
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)];
const drawn = <T>(values: readonly T[]): T[] => Array.from({ length: N }, () => pick(values));
const cells = { x: drawn(xs), city: drawn(cities), member: drawn(members), when: drawn(whens), code: drawn(codes) };

/** The rows as our own reading has them. */
const rows = new Float64Array(N * 5);
{
  const { missing, unseen, first } = rawCodes;
  const cityOf = (cell: string): number => {
    const at = categories.indexOf(cell.trim().replace(/\s+/, ' '));
    return at >= 0 ? at + first : ['', 'none', ...absent].includes(cell) ? missing : unseen;
  };
  const raw = [
    cells.x.map((value) => (Math.abs(value) < 1e150 ? value : null)),
    cells.city.map(cityOf),
    cells.member.map((word) => ({ yes: 1, TRUE: 1, no: 0 })[word.trim()] ?? null),
    cells.when.map((value) => (Number.isNaN(value) ? null : value)),
    cells.code.map(
      (cell) => ({ 3: first, '3.0': first, 'a, b': first + 1, '': missing, NULL: missing })[cell] ?? unseen,
    ),
  ];
  const items = raw.map((values) => ({ getItem: (row: number) => values[row] }));
  new RowEncoder(recipe).encode(items as never, N, rows);
}

/** A tree that asks at random, of every kind of test there is. */
function randomTree(leaves: number, outputs: number): TreeFile {
  const builder = new TreeBuilder();
  for (let leaf = 1; leaf < leaves; leaf++) {
    const column = Math.floor(random() * columns.length);
    const own = columns[column];
    const share = random();
    const bins = own.kind === 'number' ? own.edges.length + 1 : own.codes.length;
    const all = Array.from({ length: bins + 1 }, (_, bin) => bin);
    const set = own.kind === 'category' ? all.filter(() => random() < share) : null;
    const cut = Math.floor(random() * bins);
    builder.split(Math.floor(random() * leaf), { column, cut, missingLeft: random() < 0.5, gain: 1, set });
  }
  const counts = Array.from({ length: leaves }, () => (outputs === 1 ? 1 : 1 + Math.floor(random() * outputs)));
  const starts = Int32Array.from([0, ...counts.map((_, i) => counts.slice(0, i + 1).reduce((a, b) => a + b, 0))]);
  const spread = {
    starts,
    outputs: Int32Array.from(counts.flatMap((count) => Array.from({ length: count }, (_, k) => k))),
  };
  const values = Float64Array.from({ length: starts[leaves] }, () => Number(random().toPrecision(9)));
  return treeFile(builder.finish(values, new Float64Array(leaves).fill(1), outputs === 1 ? null : spread));
}

interface Case {
  readonly learner: 'boosted' | 'forest' | 'extra';
  readonly output: OutputSpec;
  readonly objective?: ObjectiveName;
}

async function differencesOf({ learner, output, objective = 'squared' }: Case): Promise<readonly number[]> {
  const classes = output.kind === 'classes' ? output.classes.length : 1;
  const K = classes > 2 ? classes : 1;
  const perLeaf = learner === 'boosted' ? 1 : K;
  const sizes = [1, 2, 31, 60, 60, 90];
  const trees = Array.from({ length: sizes.length * K }, (_, i) => randomTree(sizes[Math.floor(i / K)], perLeaf));
  const boosted = { ...quietOf(boostedFields), objective };
  const own = learner === 'boosted' ? { boosted } : {};
  const input = inputSpec(recipe);
  const file = { learner, ...own, seed: 1, columns, trees, input, output, task: 'x' } as unknown as ModelFile;
  const first = Float32Array.from({ length: K }, (_, k) => 0.3 + k / 10);
  const weights = { first: { shape: [K], data: first } };
  const { bytes } = exportOnnx({ name: learner, file, weights, preprocessing: recipe });
  const session = await InferenceSession.create(bytes);
  const texts = (values: readonly string[]): Tensor => new Tensor('string', [...values], [N, 1]);
  const doubles = (values: readonly number[]): Tensor => new Tensor('float64', Float64Array.from(values), [N, 1]);
  const { x, city, member, when, code } = cells;
  const feeds = { x: doubles(x), city: texts(city), member: texts(member), when: doubles(when), code: texts(code) };
  const found = await session.run(feeds);
  // A row alone takes another way through the operator.
  const answer = output.kind === 'value' ? 'prediction' : 'probabilities';
  for (const row of [3, 700]) {
    const alone = Object.entries(feeds).map(([name, { type, data }]) => [
      name,
      new Tensor(type, data.slice(row, row + 1) as never, [1, 1]),
    ]);
    const own = [...((await session.run(Object.fromEntries(alone)))[answer].data as Float32Array)];
    const all = [...(found[answer].data as Float32Array).slice(row * own.length, (row + 1) * own.length)];
    assert.ok(
      own.every((one, k) => Math.abs(one - all[k]) <= 1e-6 * Math.abs(all[k])),
      `${own.join()} alone, ${all.join()} among all`,
    );
  }
  await session.release();

  const data = {
    ...{ input, output, width: 5, counts: { train: 0, validation: 0, test: N }, shardStarts: [0, N] },
  };
  const shard = { rows: N, x: rows, y: new Float32Array(N) };
  const trained = learnerNamed(learner).read(file, weights);
  const { probabilities, values } = await predictRows(trained, { data, readShard: async () => shard } as never);
  if (output.kind === 'value') {
    const expected = { rows: N, probabilities: null, labels: null, values, scale: output.scale };
    return relativeDifferences(expected, { values: found.prediction.data as Float64Array, labels: null });
  }
  assert.deepEqual(
    [...found.label.data],
    Array.from(values, (k) => output.classes[k]),
  );
  const expected = { rows: N, probabilities, labels: null, values: null, scale: 1 };
  return relativeDifferences(expected, { values: found.probabilities.data as Float32Array, labels: null });
}

const value: OutputSpec = { kind: 'value', name: 'y', offset: 40, scale: 12 };
const ofClasses = (count: number): OutputSpec => ({
  kind: 'classes',
  classes: Array.from({ length: count }, (_, k) => `class ${k}`),
});

for (const learner of ['boosted', 'forest', 'extra'] as const) {
  test(`${learner}: every cell goes the way it goes here`, async () => {
    for (const output of [value, ofClasses(2), ofClasses(5)]) {
      const largest = Math.max(...(await differencesOf({ learner, output })));
      assert.ok(largest < 1e-6, `${output.kind}: ${largest}`);
    }
  });
}

test('boosted trees of every loss leave in the unit of the target', async () => {
  for (const objective of ['absolute', 'huber', 'quantile', 'poisson'] as const) {
    const largest = Math.max(...(await differencesOf({ learner: 'boosted', output: value, objective })));
    assert.ok(largest < 1e-6, `${objective}: ${largest}`);
  }
});
