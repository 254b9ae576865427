// Ops over tensors of any rank, from 1 to 5, with broadcasting: every element against plain loops over the op's definition, and
// gradients by central differences in float64. All operands are parameters; a weighted sum of the result is the model's output.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';
import type { GraphBuilder, Shape, ValueId } from '../../engine/graph/graph.ts';
import { sizeOf } from '../../engine/graph/op.ts';
import { assertGradients } from '../support/central-differences.ts';
import { handMadePlan } from '../support/hand-made.ts';
import { uniform } from '../support/table.ts';

type Index = readonly number[];

interface Case {
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** Numbers to gather by: the last operand. */
  readonly indices?: readonly number[];
  readonly build: (graph: GraphBuilder, operands: readonly ValueId[]) => ValueId;
  /** Shape of the result, and what its element at `index` has to be; `at(operand, index)` broadcasts. */
  readonly result: Shape;
  readonly value: (at: (operand: number, index: Index) => number, index: Index) => number;
}

/** `2,3` → [2, 3]; `` → [] */
const shape = (text: string): Shape => (text === '' ? [] : text.split(',').map(Number));
const withSize = (index: Index, axis: number, value: number): Index =>
  index.map((own, i) => (i === axis ? value : own));
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
const total = (count: number, term: (i: number) => number): number => range(count).reduce((sum, i) => sum + term(i), 0);

const broadcasting = [
  ...['5 5 5', '5 1 5', '1 3 3', '3,4 4 3,4', '3,4 3,1 3,4', '3,1 1,4 3,4', '2,3,4 4 2,3,4', '2,3,4 3,1 2,3,4'],
  ...['2,1,4 3,1 2,3,4', '2,3,2,2 2,1,2,1 2,3,2,2', '3,2 2,2,3,2 2,2,3,2', '2,1,3,1,2 1,2,1,2,1 2,2,3,2,2'],
  ...['2,2,1,2,2 1 2,2,1,2,2', '2  2', '2,1,2 1,3,1 2,3,2'],
].flatMap((text): Case[] => {
  const [a, b, result] = text.split(' ').map(shape);
  const pair = { shapes: [a, b], result };
  return [
    {
      ...pair,
      name: `add ${text}`,
      build: (graph, operands) => graph.one('add', operands, {}),
      value: (at, index) => at(0, index) + at(1, index),
    },
    {
      ...pair,
      name: `mul ${text}`,
      build: (graph, operands) => graph.one('mul', operands, {}),
      value: (at, index) => at(0, index) * at(1, index),
    },
    {
      name: `expand ${b.join()} to ${result.join()}`,
      shapes: [b],
      result,
      build: (graph, operands) => graph.one('expand', operands, { shape: result, scale: 0.7 }),
      value: (at, index) => 0.7 * at(0, index),
    },
  ];
});

const reductions = ['5 0', '3,4 0', '3,4 1', '3,4 0,1', '2,3,4 1', '2,3,4 0,2', '2,3,1,4 2', '2,3,2,3 1,3']
  .concat(['2,2,3,2,2 0,2,4', '2,2,3,2,2 1,3', '2,2,3,2,2 3,4'])
  .flatMap((text) =>
    (['sum', 'mean'] as const).flatMap((op) =>
      [true, false].map((keep): Case => {
        const [x, axes] = text.split(' ').map(shape);
        const kept = x.map((size, i) => (axes.includes(i) ? 1 : size));
        const left = range(x.length).filter((axis) => !axes.includes(axis));
        const count = sizeOf(axes.map((axis) => x[axis]));
        return {
          name: `${op} ${text}${keep ? ', kept' : ''}`,
          shapes: [x],
          result: keep ? kept : left.map((axis) => x[axis]),
          build: (graph, operands) => graph.one(op, operands, { axes, keep }),
          value: (at, index) => {
            const sum = total(count, (i) => {
              const position = keep ? [...index] : x.map((_, axis) => index[left.indexOf(axis)] ?? 0);
              axes.toReversed().forEach((axis) => {
                position[axis] = i % x[axis];
                i = Math.floor(i / x[axis]);
              });
              return at(0, position);
            });
            return op === 'sum' ? sum : sum / count;
          },
        };
      }),
    ),
  );

const rows = ['5', '3,4', '2,3,4', '2,3,2,2', '2,2,1,3,2'].map(shape).flatMap((x): Case[] => {
  const [last, width] = [x.length - 1, x[x.length - 1]];
  return [
    {
      name: `softmax ${x.join()}`,
      shapes: [x],
      result: x,
      build: (graph, operands) => graph.one('softmax', operands, {}),
      value: (at, index) => Math.exp(at(0, index)) / total(width, (j) => Math.exp(at(0, withSize(index, last, j)))),
    },
    {
      name: `layer norm ${x.join()}`,
      shapes: [x, [width], [width]],
      result: x,
      build: (graph, operands) => graph.apply('layer_norm', operands, { epsilon: 1e-3 })[0],
      value: (at, index) => {
        const mean = total(width, (j) => at(0, withSize(index, last, j))) / width;
        const variance = total(width, (j) => (at(0, withSize(index, last, j)) - mean) ** 2) / width;
        return ((at(0, index) - mean) / Math.sqrt(variance + 1e-3)) * at(1, index) + at(2, index);
      },
    },
  ];
});

const turned = (x: Shape, turn: boolean): Shape => (turn ? [...x.slice(0, -2), x[x.length - 1], x[x.length - 2]] : x);
const products = [
  ...['3,4 4,2 3,2', '2,3,4 4,2 2,3,2', '3,4 2,4,2 2,3,2', '2,3,4 2,4,2 2,3,2', '2,1,3,2 1,3,2,2 2,3,3,2'],
  ...['2,3,3,2 3,2,2 2,3,3,2', '2,1,2,2,3 2,1,3,2 2,2,2,2,2'],
].flatMap((text) =>
  range(4).map((turns): Case => {
    const [transposeA, transposeB] = [turns > 1, turns % 2 > 0];
    const [a, b, result] = text.split(' ').map(shape);
    const scale = transposeB ? 0.6 : 1;
    return {
      name: `matmul ${text}${transposeA ? ', a turned' : ''}${transposeB ? ', b turned' : ''}`,
      shapes: [turned(a, transposeA), turned(b, transposeB)],
      result,
      build: (graph, operands) => graph.one('matmul', operands, { transposeA, transposeB, scale }),
      value: (at, index) => {
        const [batch, i, j] = [index.slice(0, -2), index[index.length - 2], index[index.length - 1]];
        const element = (operand: number, turn: boolean, row: number, column: number): number =>
          at(operand, [...batch, ...(turn ? [column, row] : [row, column])]);
        return scale * total(a[a.length - 1], (k) => element(0, transposeA, i, k) * element(1, transposeB, k, j));
      },
    };
  }),
);

const transpositions = ['4 0', '3,4 1,0', '2,3,4 0,2,1', '2,3,4 2,0,1', '2,3,2,4 0,2,1,3', '2,3,1,2,3 4,2,0,3,1'].map(
  (text): Case => {
    const [x, permutation] = text.split(' ').map(shape);
    return {
      name: `transpose ${text}`,
      shapes: [x],
      result: permutation.map((axis) => x[axis]),
      build: (graph, operands) => graph.one('transpose', operands, { permutation }),
      value: (at, index) =>
        at(
          0,
          range(x.length).map((axis) => index[permutation.indexOf(axis)]),
        ),
    };
  },
);

const slices = [
  '5 0 1 3',
  '3,4 0 1 2',
  '3,4 1 0 3',
  '2,3,4 1 2 1',
  '2,3,4,2 2 1 2',
  '2,2,3,2,2 2 0 2',
  '2,2,2,2,3 4 2 1',
].map((text): Case => {
  const [x, [axis], [offset], [size]] = text.split(' ').map(shape);
  return {
    name: `slice ${text}`,
    shapes: [x],
    result: withSize(x, axis, size),
    build: (graph, operands) => graph.one('slice', operands, { axis, offset, size }),
    value: (at, index) => at(0, withSize(index, axis, index[axis] + offset)),
  };
});

const joins = [
  '0 2 3',
  '0 2,3 1,3',
  '1 2,3 2,1 2,2',
  '1 2,1,2 2,3,2',
  '3 2,2,1,2 2,2,1,1',
  '0 1,2,2,2,1 2,2,2,2,1',
].map((text): Case => {
  const [[axis], ...shapes] = text.split(' ').map(shape);
  return {
    name: `concat along ${text}`,
    shapes,
    result: withSize(
      shapes[0],
      axis,
      total(shapes.length, (i) => shapes[i][axis]),
    ),
    build: (graph, operands) => graph.one('concat', operands, { axis }),
    value: (at, index) => {
      let [operand, position] = [0, index[axis]];
      while (position >= shapes[operand][axis]) position -= shapes[operand++][axis];
      return at(operand, withSize(index, axis, position));
    },
  };
});

const gathered = ['5 0 4', '4,3 0 6', '4,3 1 2', '2,3,2 1 2,2', '2,2,3,2 2 5', '2,1,2,3,2 3 4'].map((text): Case => {
  const [x, [axis], taken] = text.split(' ').map(shape);
  const indices = range(sizeOf(taken)).map((i) => (i * 2 + 1) % x[axis]);
  return {
    name: `gather ${text}`,
    shapes: [x],
    indices,
    result: [...x.slice(0, axis), ...taken, ...x.slice(axis + 1)],
    build: (graph, [value, numbers]) =>
      graph.one('gather', [value, graph.one('reshape', [numbers], { shape: taken })], { axis }),
    value: (at, index) => {
      const position = taken.reduce((sum, size, i) => sum * size + index[axis + i], 0);
      return at(0, [...index.slice(0, axis), indices[position], ...index.slice(axis + taken.length)]);
    },
  };
});

const all = [...broadcasting, ...reductions, ...rows, ...products, ...transpositions, ...slices, ...joins, ...gathered];

for (const testCase of all) {
  test(`gradient and values: ${testCase.name}`, async () => {
    const { shapes, result } = testCase;
    const count = sizeOf(result);
    const executable = open(testCase);
    const values = shapes.map((_, i) => Float64Array.from(executable.values(`made.p${i}`)));
    const at = (operand: number, index: Index): number => {
      const own = shapes[operand];
      const first = index.length - own.length;
      return values[operand][own.reduce((sum, size, i) => sum * size + (size === 1 ? 0 : index[first + i]), 0)];
    };
    const weights = executable.values('made.weights');
    const kept = Float64Array.from(weights);
    for (let element = 0; element < count; element++) {
      weights.fill(0)[element] = 1;
      await executable.run('predict@1', 1);
      const index = result.map((size, axis) => Math.floor(element / sizeOf(result.slice(axis + 1))) % size);
      const wanted = testCase.value(at, index);
      const got = executable.values('ring.outputs')[0];
      assert.ok(Math.abs(got - wanted) < 1e-9, `[${index.join()}]: ${got}, by definition ${wanted}`);
    }
    weights.set(kept);
    const names = [...shapes.map((_, i) => `made.p${i}`), 'made.weights'];
    await assertGradients(executable, 'train@1', names);
  });
}

function open({ shapes, indices, result, build }: Case): ReferenceExecutable {
  const { model, plan } = handMadePlan({
    inputs: 1,
    batch: 1,
    parameters: Object.fromEntries([...shapes.map((each, i) => [`p${i}`, each]), ['weights', [sizeOf(result), 1]]]),
    states: indices ? { indices: { shape: [indices.length], type: 'u32' } } : {},
    build: ({ graph, tensor }) => {
      const operands = shapes.map((_, i) => tensor(`p${i}`));
      const made = build(graph, indices ? [...operands, tensor('indices')] : operands);
      assert.deepEqual(graph.shape(made), result);
      const row = graph.one('reshape', [made], { shape: [1, sizeOf(result)] });
      return graph.one('dense', [row, tensor('weights'), null], { activation: 'none', slope: 0 });
    },
  });
  const executable = new ReferenceExecutable(plan);
  const random = uniform(11);
  for (const { name } of model.parameters) {
    executable.values(name).forEach((_, i, values) => (values[i] = random() * 2 - 1));
  }
  if (indices) executable.write('made.indices', Uint32Array.from(indices));
  executable.write('data.y', new Float32Array(12).fill(0.3));
  executable.write('step.scalars', Float32Array.of(0, 1, 1, 0));
  return executable;
}
