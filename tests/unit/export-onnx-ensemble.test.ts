// An ensemble as one ONNX file: members that take scaled rows and members that take columns as they are, the models of all folds, over the
// same cells with categories, dates and gaps, with a text and without; onnxruntime says what the run says. Beyond a sensible size it is refused.

import assert from 'node:assert/strict';
import test from 'node:test';
import { InferenceSession, Tensor, env } from 'onnxruntime-web/wasm';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { RowEncoder } from '../../engine/data/preprocess/encode.ts';
import { inputSpec, type Preprocessing, type TextRecipe } from '../../engine/data/preprocess/recipe.ts';
import { encodeText } from '../../engine/data/preprocess/texts.ts';
import { relativeDifferences } from '../../engine/export/certificate.ts';
import { exportMlflow } from '../../engine/export/logs/mlflow.ts';
import { exportOnnx } from '../../engine/export/onnx/model.ts';
import { mostNodes } from '../../engine/export/onnx/size.ts';
import type { OpenedRun } from '../../engine/export/opened.ts';
import { boostedFields } from '../../engine/learners/boosted/declaration.ts';
import { autoFields } from '../../engine/learners/auto/declaration.ts';
import { matrixRecipe } from '../../engine/learners/auto/trained.ts';
import { extraFields, forestFields } from '../../engine/learners/declared/forest-fields.ts';
import { linearFields } from '../../engine/learners/linear/declaration.ts';
import { fitTerms, termTensors } from '../../engine/learners/linear/terms.ts';
import { otherLearners, predictRows } from '../../engine/learners/predict.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import type { ColumnFile, TreeFile } from '../../engine/learners/trees/model-schema.ts';
import { TreeBuilder } from '../../engine/learners/trees/tree.ts';
import { treeFile } from '../../engine/learners/trees/tree-files.ts';
import { defaultTraining, presetNamed, specOf } from '../../engine/model/presets.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import { rawCodes, type OutputSpec } from '../../engine/model/spec.ts';
import type { ModelFile } from '../../engine/protocol/model-file.ts';
import { trainTokenizer } from '../../engine/text/tokenizers.ts';
import { quietOf } from '../../engine/settings/values.ts';
import type { Weights } from '../../engine/train/weights.ts';
import { exampleConfig } from './fixtures/history.ts';
import { makeTable, uniform } from '../support/table.ts';

env.wasm.numThreads = 1;

const N = 400;
const random = uniform(5);
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)];
const drawn = <T>(values: () => T): T[] => Array.from({ length: N }, values);
const cityNames = ['Köln', 'Lima', 'New York', 'label'];
const codeNames = Array.from({ length: 12 }, (_, i) => `c${i}`);
const number = { missing: [], impute: 1, mean: 1, deviation: 2, indicator: true };
const recipe: Preprocessing = {
  version: 1,
  form: 'columns',
  features: [
    { kind: 'number', column: 'x', ...number },
    { kind: 'one_hot', column: 'the city', missing: ['none'], categories: cityNames, indicator: true },
    { kind: 'boolean', column: 'prediction', missing: [], impute: 0.5, indicator: true },
    { kind: 'datetime', column: 'when', ...number, mean: 1.5e12, deviation: 1e11, parts: ['month', 'weekday'] },
    { kind: 'embedding', column: 'code', missing: [], categories: codeNames, dimensions: 3 },
  ],
  target: { kind: 'value', column: 'y', missing: [], offset: 0, scale: 1 },
  leftOut: [],
};
const words = ['lovely', 'stale', 'soup', 'and', 'tea'];
const tokenizer = trainTokenizer([words.join(' ')], { kind: 'words', vocabulary: 9 });
const said: TextRecipe = {
  ...{ kind: 'text', column: 'said', missing: [], characters: 40, length: 6, vocabulary: tokenizer.vocabulary },
  tokenizer: JSON.parse(JSON.stringify(tokenizer.toJSON())) as unknown,
};
const cells = {
  x: drawn(() => (random() < 0.1 ? NaN : random() * 8 - 3)),
  'the city': drawn(() => pick([...cityNames, '', 'none', 'Nowhere', ' Lima '])),
  prediction: drawn(() => pick(['yes', 'no', ''])),
  when: drawn(() => (random() < 0.1 ? NaN : Math.floor(1.4e12 + random() * 3e11))),
  code: drawn(() => pick([...codeNames, '', 'c99'])),
};

const texts = drawn(() =>
  random() < 0.1
    ? null
    : drawn(() => pick([...words, 'unseen']))
        .slice(0, pick([1, 4, 9]))
        .join(' '),
);

/** What an ensemble reads. */
interface Read {
  readonly recipe: Preprocessing;
  /** [N, width]: the rows as columns as they are, as our own reading has them. */
  readonly rows: Float64Array;
  readonly inputs: Readonly<Record<string, Tensor>>;
}

function makeRead(reads: boolean): Read {
  const own = reads ? { ...recipe, features: [...recipe.features, said] } : recipe;
  const { missing, unseen, first } = rawCodes;
  const coded = (names: readonly string[], cell: string): number => {
    const at = names.indexOf(cell.trim());
    return at >= 0 ? at + first : ['', 'none'].includes(cell) ? missing : unseen;
  };
  const known = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const raw = [
    cells.x.map(known),
    cells['the city'].map((cell) => coded(cityNames, cell)),
    cells.prediction.map((word) => ({ yes: 1, no: 0 })[word] ?? null),
    cells.when.map(known),
    cells.code.map((cell) => coded(codeNames, cell)),
  ];
  const items = [...raw, ...(reads ? [texts] : [])].map((values) => ({ getItem: (row: number) => values[row] }));
  const encoder = new RowEncoder(own);
  const rows = new Float64Array(N * encoder.width);
  encoder.encode(items as never, N, rows);
  const inputs: Record<string, Tensor> = {};
  for (const [name, cell] of Object.entries(cells)) {
    inputs[name] =
      typeof cell[0] === 'string'
        ? new Tensor('string', cell as string[], [N, 1])
        : new Tensor('float64', Float64Array.from(cell as number[]), [N, 1]);
  }
  if (reads) {
    const codes = new Float64Array(N * said.length);
    texts.forEach((text, row) => encodeText(said, text, codes, row * said.length));
    inputs.said = new Tensor(
      'int64',
      BigInt64Array.from(codes, (code) => BigInt(code - 1)),
      [N, said.length],
    );
  }
  return { recipe: own, rows, inputs };
}

const [plain, withText] = [makeRead(false), makeRead(true)];

const columns: readonly ColumnFile[] = [
  { kind: 'number', edges: [-2, 0, 1.5, 3] },
  { kind: 'category', codes: [rawCodes.missing, rawCodes.first, rawCodes.first + 2] },
  { kind: 'number', edges: [0.5] },
  { kind: 'number', edges: [1.45e12, 1.6e12] },
  { kind: 'category', codes: codeNames.map((_, i) => i + rawCodes.first) },
];

function randomTree(outputs: number): TreeFile {
  const builder = new TreeBuilder();
  const leaves = 12;
  for (let leaf = 1; leaf < leaves; leaf++) {
    const column = Math.floor(random() * columns.length);
    const own = columns[column];
    const bins = own.kind === 'number' ? own.edges.length + 1 : own.codes.length;
    const all = Array.from({ length: bins + 1 }, (_, bin) => bin);
    const set = own.kind === 'category' ? all.filter(() => random() < 0.5) : null;
    const cut = Math.floor(random() * bins);
    builder.split(Math.floor(random() * leaf), { column, cut, missingLeft: random() < 0.5, gain: 1, set });
  }
  const starts = Int32Array.from({ length: leaves + 1 }, (_, leaf) => leaf * outputs);
  const spread = { starts, outputs: Int32Array.from({ length: leaves * outputs }, (_, at) => at % outputs) };
  const values = Float64Array.from({ length: leaves * outputs }, random);
  return treeFile(builder.finish(values, new Float64Array(leaves).fill(1), outputs === 1 ? null : spread));
}

interface Made {
  readonly file: ModelFile;
  readonly weights: Weights;
}

const randomTensor = (shape: readonly number[]): Weights[string] => {
  const length = shape.reduce((product, size) => product * size, 1);
  return { shape: [...shape], data: Float32Array.from({ length }, () => random() - 0.4) };
};

/** A model of each kind, as if it had learned. */
function makeModel(learner: string, output: OutputSpec, { recipe }: Read): Made {
  const K = output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
  const task = output.kind === 'classes' ? 'classification' : 'regression';
  const table = inputSpec(matrixRecipe(recipe) as Preprocessing);
  if (learner === 'linear') {
    if (table.kind !== 'table') throw new RangeError('a table');
    const vocabulary = table.embeddings.reduce((sum, one) => sum + one.vocabulary, 0);
    const own = { linear: quietOf(linearFields), seed: 1, penalty: 1, grid: 0, input: table, output, task };
    const terms = fitTerms(
      (table.texts ?? []).map(() => Uint32Array.of(2, 4, 3, 2, 4, 5)),
      (table.texts ?? []).length,
      K,
    );
    const weights = {
      'output.weight': randomTensor([table.numeric + vocabulary + (table.texts ? terms.weights.length : 0), K]),
      'output.bias': randomTensor([K]),
      ...(table.texts && termTensors([terms])),
    };
    return { file: { learner, ...own } as ModelFile, weights };
  }
  if (learner === 'network') {
    const reads = table.kind === 'table' && table.texts !== undefined;
    const model = specOf(presetNamed(reads ? 'text-gru' : 'small')!, table);
    const training = defaultTraining(100, task, table, model);
    const { parameters, states } = resolveModel(model, table, outputWidth(output, training.loss));
    const tensors = [...parameters, ...states].map(({ name, shape }) => [name, randomTensor(shape)]);
    const file = { learner, model, training, input: table, output, task } as ModelFile;
    return { file, weights: Object.fromEntries(tensors) as Weights };
  }
  const perLeaf = learner === 'boosted' ? 1 : K;
  const trees = Array.from({ length: 6 * K }, () => randomTree(perLeaf));
  const fields = { boosted: boostedFields, forest: forestFields, extra: extraFields }[learner]!;
  const own = {
    [learner]: { ...quietOf(fields), ...(learner === 'boosted' && { objective: 'squared' }) },
    seed: 1,
    columns,
    trees,
    input: inputSpec(recipe),
    output,
    task,
  };
  return { file: { learner, ...own } as unknown as ModelFile, weights: { first: randomTensor([K]) } };
}

/** Of members, each with two folds. */
function makeEnsemble(output: OutputSpec, kinds: readonly string[], read = plain): Made {
  const { recipe } = read;
  const weights: Record<string, Weights[string]> = {};
  const members = kinds.map((learner, member) => {
    const models = [0, 1].map((fold) => {
      const made = makeModel(learner, output, read);
      for (const [name, tensor] of Object.entries(made.weights)) weights[`${member}.${fold}.${name}`] = tensor;
      return JSON.parse(JSON.stringify(made.file)) as object;
    });
    return { title: learner, learner, weight: 1 / kinds.length, models };
  });
  const task = output.kind === 'classes' ? 'classification' : 'regression';
  const own = { auto: quietOf(autoFields), seed: 1, recipe: matrixRecipe(recipe), members };
  const file = { learner: 'auto', ...own, input: inputSpec(recipe), output, task } as unknown as ModelFile;
  return { file, weights };
}

const kinds = ['linear', 'boosted', 'network', 'forest', 'extra'];
const value: OutputSpec = { kind: 'value', name: 'y', offset: 40, scale: 12 };
const ofClasses = (count: number): OutputSpec => ({
  kind: 'classes',
  classes: Array.from({ length: count }, (_, k) => `class ${k}`),
});

async function differencesOf(output: OutputSpec, read: Read): Promise<readonly number[]> {
  const { recipe, rows } = read;
  const { file, weights } = makeEnsemble(output, kinds, read);
  const { bytes, inputs, answers } = exportOnnx({ name: 'all', file, weights, preprocessing: recipe });
  assert.deepEqual(
    inputs.map(({ name }) => name),
    Object.keys(read.inputs),
    'an input a column, whoever asks for it',
  );
  const session = await InferenceSession.create(bytes);
  const found = await session.run(read.inputs);
  await session.release();
  const data = {
    ...makeTable({ rows: 1, numeric: 1, classes: 2 }).data,
    ...{
      input: file.input,
      output,
      width: rows.length / N,
      counts: { train: 0, validation: 0, test: N },
      shardStarts: [0, N],
    },
    preprocessing: recipe,
  };
  const shard = { rows: N, x: rows, y: new Float32Array(N) };
  const trained = learnerNamed('auto').read(file, weights, otherLearners);
  const source = { data, readShard: async () => shard, dataBudget: 1e9, backend: async () => createReferenceBackend() };
  const { probabilities, values } = await predictRows(trained, source as never);
  if (output.kind === 'value') {
    const expected = { rows: N, probabilities: null, labels: null, values, scale: output.scale };
    return relativeDifferences(expected, { values: found[answers.answer].data as Float64Array, labels: null });
  }
  assert.deepEqual(
    [...found.label.data],
    Array.from(values, (k) => output.classes[k]),
  );
  const expected = { rows: N, probabilities, labels: null, values: null, scale: 1 };
  return relativeDifferences(expected, { values: found.probabilities.data as Float32Array, labels: null });
}

test('an ensemble of every kind of model answers as the run does', async () => {
  for (const read of [plain, withText]) {
    for (const output of [value, ofClasses(2), ofClasses(5)]) {
      const largest = Math.max(...(await differencesOf(output, read)));
      assert.ok(largest < 3e-6, `${output.kind}: ${largest}`);
    }
  }
});

test('one with too many nodes is refused, and leaves for MLflow without its model', () => {
  const { file, weights } = makeEnsemble(value, ['extra']);
  const { members, ...rest } = file as ModelFile & { readonly members: readonly { readonly models: object[] }[] };
  const [model] = members[0].models as { trees: TreeFile[] }[];
  const { rows: leaves, column } = model.trees[0];
  const trees = new Array<TreeFile>(Math.ceil(mostNodes / 2 / (leaves.length + column.length)) + 1).fill(
    model.trees[0],
  );
  const large = { ...rest, members: [{ ...members[0], models: members[0].models.map((own) => ({ ...own, trees })) }] };
  const asked = { name: 'all', file: large as ModelFile, weights, preprocessing: recipe };
  assert.throws(
    () => exportOnnx(asked),
    (error: Error) =>
      /have 4,000,\d\d\d nodes/.test(error.message) && /one of its members/.test(String(Reflect.get(error, 'hint'))),
  );
  const record = {
    id: 1,
    name: 'a',
    datasetName: 'd',
    notes: '',
    createdAt: 0,
    config: { ...exampleConfig, learner: 'auto', auto: {} },
  };
  const run = { record, points: [], model: '{}', preprocessing: '{}', file: large, tensors: weights, recipe };
  const paths = exportMlflow('all', run as unknown as OpenedRun).map(({ path }) => path);
  assert.ok(paths.some((path) => path.endsWith('/artifacts/model/model.json')));
  assert.ok(!paths.some((path) => path.endsWith('.onnx')));
});
