// What the recipes of docs/adding.md and kernels/README.md lead to: for each, the files somebody would write, and the lines
// put into files that are there. `tests/recipes/recipes.test.ts` follows them on a copy and runs the proof the page names.

import { migrations } from '../../engine/history/migrations.ts';
import { learnerRecipe } from './learner.ts';
import type { Recipe } from './recipe.ts';

export const recipes: readonly Recipe[] = [
  // First: its type check is of all recipes.
  {
    what: 'A setting',
    files: {},
    lines: [
      {
        file: 'engine/settings/training.ts',
        before: "  'schedule.warmupEpochs': {",
        text: `  patienceOfTests: {
    kind: 'number',
    whole: true,
    label: 'Patience of tests',
    help: 'for the test of a recipe',
    flag: 'patience-of-tests',
    minimum: 0,
    maximum: 9,
    quiet: 0,
    default: 0,
  },`,
      },
    ],
    name: 'patienceOfTests',
    proves: /✔ network: patienceOfTests is in help, form and comparisons/,
  },
  learnerRecipe,
  {
    what: 'A layer',
    files: {
      'engine/model/layers/doubling.ts': `// Twice the input.

import { sizeOf } from '../../graph/op.ts';
import { defineLayer, layerFields } from '../layer.ts';

export const doubling = defineLayer({
  type: 'doubling',
  title: 'Doubling',
  summary: 'Twice its input, and again.',
  group: 'activation',
  fields: layerFields({
    times: { kind: 'number', whole: true, label: 'Times', help: 'doublings', minimum: 1, maximum: 8, default: 1 },
  }),
  shape: ([input]) => input,
  build({ graph, args }, [x]) {
    let y = x;
    for (let i = 0; i < args.times; i++) y = graph.one('add', [y, y], {});
    return y;
  },
  flops: ([input], _, { times }) => times * sizeOf(input),
});
`,
    },
    lines: [
      {
        file: 'engine/model/registry.ts',
        before: 'import { dropout,',
        text: "import { doubling } from './layers/doubling.ts';",
      },
      { file: 'engine/model/registry.ts', before: '  dense,', text: '  doubling,' },
      {
        file: 'tests/gradient/layers.test.ts',
        before: "  { name: 'flatten', layers",
        text: "  { name: 'doubling', layers: between({ type: 'doubling', times: 2 }) },",
      },
    ],
    name: 'doubling',
    proves: /✔ .*doubling/,
  },
  {
    what: 'A kernel',
    name: 'constant_fill',
    // Contract, reference, CPU and GPU.
    takes: 4,
    files: {
      'kernels/constant_fill/kernel.ts': `// Sets every element to one value.

import { defineKernel } from '../contract.ts';

export const kernel = defineKernel({
  name: 'constant_fill',
  summary: 'y = value.',
  inputs: [],
  outputs: [{ name: 'y', shape: (p) => [p.count] }],
  params: { count: 'i32', value: 'f32' },
  cost: (p) => ({ flops: 0, bytes: 4 * p.count }),
  tolerance: { relative: 0, absolute: 0, why: 'a copy' },
  cases: [{ params: { count: 1, value: 2 } }, { params: { count: 67, value: 1.5 } }],
});
`,
      'kernels/constant_fill/reference.ts': `// Oracle of constant_fill.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (_, outputs, params) => {
  present(outputs).y.fill(params.value, 0, params.count);
};
`,
      'kernels/constant_fill/cpu.ts': `// AssemblyScript: y = value.

import { integer, LINE, pointer, real, shareStart, write } from '../shared/vectors';

export function constant_fill(args: usize, thread: i32, threads: i32, step: i32): void {
  const y = pointer(args, 0);
  const count = integer(args, 1);
  const value = f32x4.splat(real(args, 2));
  const end = shareStart(count, LINE, thread + 1, threads);
  let i = shareStart(count, LINE, thread, threads);
  for (; i + 4 <= end; i += 4) write(y, i, value, 4);
  if (i < end) write(y, i, value, end - i);
}
`,
      'kernels/constant_fill/gpu.ts': `// constant_fill, one element or vector a thread.

import type { GpuKernel } from '../gpu-contract.ts';
import { elementwise, elementwiseView, float } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: ({ count, value }, { limits }) => {
    const view = elementwiseView(count, limits);
    return [
      {
        label: 'constant_fill',
        reads: {},
        writes: { y: view.element },
        code: elementwise(view, \`y[i] = V(\${float(value)});\`),
        workgroups: view.workgroups,
      },
    ];
  },
};
`,
    },
    lines: [],
    proves: /✔ constant_fill/,
  },
  {
    what: 'A dataset format',
    files: {
      'engine/data/formats/json-columns.ts': `// One JSON object a file, one array a column, with a first line of its own.

import { quoteText } from '../sql.ts';
import type { DatasetFormat, TableSource } from './format.ts';

const mark = '{"columns of":';

export const jsonColumns: DatasetFormat = {
  name: 'JSON columns',
  sniff: ({ bytes }) => Buffer.from(bytes.subarray(0, mark.length)).toString('latin1') === mark,
  open: async ({ head }) => {
    const source: TableSource = {
      columns: [{ name: 'x', storage: 'DOUBLE', missing: [] }],
      query: \`SELECT unnest(x)::DOUBLE AS x FROM read_json(\${quoteText(head.path)})\`,
      reading: { format: 'JSON columns' },
      warnings: [],
      check: async () => ({ finished: [] }),
      keepExact: () => source,
    };
    return source;
  },
};
`,
      'tests/unit/data/json-columns.test.ts': `import assert from 'node:assert/strict';
import test from 'node:test';
import { allRows, importFile, writeTable } from './helpers.ts';

test('JSON columns are read', async (context) => {
  const text = JSON.stringify({ 'columns of': 'numbers', x: Array.from({ length: 12 }, (_, row) => row / 4) });
  const { service, info } = await importFile(context, writeTable(context, 'some.columns', text));
  assert.equal((await allRows(service, info)).length, 12);
});
`,
    },
    lines: [
      {
        file: 'engine/data/formats/registry.ts',
        before: 'import { jsonLines',
        text: "import { jsonColumns } from './json-columns.ts';",
      },
      { file: 'engine/data/formats/registry.ts', before: '  jsonLines,', text: '  jsonColumns,' },
    ],
    name: 'json-columns',
    proves: /✔ JSON columns are read/,
  },
  {
    what: 'An op',
    // Attributes, the op, the table of ops and that of their ONNX export.
    takes: 4,
    files: {
      'engine/graph/ops/quadruple.ts': `// Four times a value: for a test of the recipe.

import { sizesAsParams } from '../../../kernels/sizes.ts';
import { binaryCodes } from '../../../kernels/broadcast_binary/kernel.ts';
import { defineOp, sizeOf } from '../op.ts';

export const quadrupleOps = {
  quadruple: defineOp<Readonly<Record<never, never>>>({
    shape: ([x]) => [x!],
    gradient: (graph, _node, [dy]) => [graph.one('quadruple', [dy!], {})],
    lower: ({ inputs, outputs, outputShapes }) => {
      const operation = binaryCodes.multiply;
      const params = { operation, ...sizesAsParams([1, 1, 1, 1, 1, sizeOf(outputShapes[0])]), a: 63, b: 0, scale: 4 };
      return [{ kernel: 'broadcast_binary', inputs: [inputs[0], null], outputs: [outputs[0]], params }];
    },
  }),
};
`,
    },
    lines: [
      { file: 'engine/graph/attributes.ts', before: '  softmax: NoAttributes;', text: '  quadruple: NoAttributes;' },
      {
        file: 'engine/graph/ops.ts',
        before: 'import { sourceOps }',
        text: "import { quadrupleOps } from './ops/quadruple.ts';",
      },
      { file: 'engine/graph/ops.ts', before: '  ...lossOps,', text: '  ...quadrupleOps,' },
      {
        file: 'engine/export/onnx/ops.ts',
        before: "  dense_input_grad: 'training',",
        text: "  quadruple: ({ onnx, inputs: [x] }) => [onnx.one('Sum', [x, x, x, x])],",
      },
      {
        file: 'tests/gradient/ops.test.ts',
        before: 'const reductions =',
        text: `broadcasting.push({
  name: 'quadruple',
  shapes: [[2, 3]],
  result: [2, 3],
  build: (graph, operands) => graph.one('quadruple', operands, {}),
  value: (at, index) => 4 * at(0, index),
});
`,
      },
    ],
    name: 'quadruple',
    proves: /✔ .*quadruple/,
  },
  {
    what: 'A loss',
    files: {},
    lines: [
      {
        file: 'engine/settings/training.ts',
        before: "  mse: { label: 'Mean square error'",
        text: "  plain_mse: { label: 'Plain mean square error', fits: numbers },",
      },
      {
        file: 'engine/model/losses.ts',
        before: "  mse: regressionLoss('mse'",
        text: "  plain_mse: regressionLoss('mse', (error) => error * error),",
      },
    ],
    proves: /✔ plain_mse: a training step and the validation/,
  },
  {
    what: 'A metric',
    files: {},
    lines: [
      {
        file: 'engine/model/metrics.ts',
        before: '  mae: {',
        text: `  error_rate: {
    words: 'error rate',
    ...error,
    maximum: 1,
    ofClasses: ({ confusion, targets }) => 1 - confusion.reduce((sum, counts, k) => sum + counts[k], 0) / targets.length,
  },`,
      },
    ],
    proves: /ℹ fail 0/,
  },
  {
    what: 'A chart',
    files: {},
    lines: [
      {
        file: 'renderer/views/run/charts.ts',
        before: "  { id: 'metric'",
        text: "  { id: 'learning-rate', metrics: () => ['learning_rate'], scalable: true },",
      },
    ],
    name: 'learning-rate',
    proves: /✔ learning-rate: has curves and words/,
  },
  {
    what: 'A migration of the history',
    files: {},
    lines: [
      {
        file: 'engine/history/migrations.ts',
        before: '];',
        text: `  { version: ${migrations.length + 1}, apply: (connection) => connection.execute('CREATE INDEX run_by_name ON run (name)') },`,
      },
    ],
    proves: /✔ a home of each format opens with all that is in it, and has the newest format then/,
  },
  {
    what: 'A command',
    name: 'greet',
    files: {
      'electron/cli/commands/greet.ts': `// \`greet\`: says hello.

import { about } from '../about.ts';
import type { Command } from '../command.ts';

export const greet: Command = {
  ...about.greet,
  positionals: [0, 0],
  options: {},
  run: async ({ output }) => output.line('Hello.'),
};
`,
    },
    lines: [
      {
        file: 'electron/cli/commands.ts',
        before: '  inspect:',
        text: "  greet: async () => (await import('./commands/greet.ts')).greet,",
      },
      {
        file: 'electron/cli/about.ts',
        before: '  inspect:',
        text: "  greet: { name: 'greet', usage: '', summary: 'Says hello to whoever asks.' },",
      },
    ],
    proves: /Says hello to whoever asks/,
  },
];
