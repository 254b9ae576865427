// Random graphs over the ops on tensors of any rank: views, broadcasting, sums, products and normalisation on top of one another,
// with values that are used more than once. Gradients by central differences in float64, and the CPU against the reference.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';
import type { AttributesOf, OpName } from '../../engine/graph/attributes.ts';
import type { GraphBuilder, Shape, ValueId } from '../../engine/graph/graph.ts';
import { sizeOf } from '../../engine/graph/op.ts';
import { assertGradients } from '../support/central-differences.ts';
import { handMadePlan } from '../support/hand-made.ts';
import { uniform } from '../support/table.ts';

/** Among these are products of which both operands are transposed. */
const seeds = Array.from({ length: 12 }, (_, i) => 501 + i);
const ops = 9;
const largestRank = 5;
const largestSize = 100;

/** What a graph is made of: it is made once for the shapes of its parameters, and again for each program of a plan. */
interface Maker {
  readonly graph: GraphBuilder | null;
  readonly parameter: (name: string, shape: Shape) => ValueId;
}

/** Shape of two tensors that are broadcast against each other. */
function broadcast(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => Math.max(a.at(i - rank) ?? 1, b.at(i - rank) ?? 1));
}

/** The graph of a seed: [1, 1], a weighted sum of all values there are. */
function makeGraph(seed: number, { graph, parameter }: Maker): ValueId {
  const random = uniform(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const chance = (share: number): boolean => random() < share;
  const shapes: Shape[] = [];
  const values: ValueId[] = [];
  let parameters = 0;

  const add = (value: ValueId, shape: Shape): number => {
    shapes.push(shape);
    return values.push(value) - 1;
  };
  const make = (shape: Shape): number => add(parameter(`p${parameters++}`, shape), shape);
  const apply = <K extends OpName>(
    op: K,
    inputs: readonly number[],
    attributes: AttributesOf<K>,
    shape: Shape,
  ): number => {
    const operands = inputs.map((input) => values[input]);
    return add(graph?.apply(op, operands, attributes)[0] ?? 0, shape);
  };

  /** One op on value `i`, of shape `x`. */
  const kinds: readonly ((i: number, x: Shape) => unknown)[] = [
    (i, x) => {
      const shape = [[sizeOf(x)], [1, ...x].slice(-largestRank), x.toReversed()][below(3)];
      if (sizeOf(shape) === sizeOf(x)) apply('reshape', [i], { shape }, shape);
    },
    (i, x) => {
      const keys = x.map(() => random());
      const permutation = x.map((_, axis) => axis).sort((a, b) => keys[a] - keys[b]);
      apply(
        'transpose',
        [i],
        { permutation },
        permutation.map((axis) => x[axis]),
      );
    },
    (i, x) => {
      const axis = below(x.length);
      const offset = below(x[axis]);
      const size = 1 + below(x[axis] - offset);
      apply('slice', [i], { axis, offset, size }, x.with(axis, size));
    },
    (i, x) => {
      const other = Array.from({ length: 1 + below(largestRank) }, (_, back) => {
        const own = x.at(-1 - back) ?? 1;
        return chance(0.4) ? 1 : own === 1 ? 1 + 2 * below(2) : own;
      }).toReversed();
      const pair = [i, make(other)];
      apply(chance(0.5) ? 'add' : 'mul', chance(0.5) ? pair : pair.toReversed(), {}, broadcast(x, other));
    },
    (i, x) => apply('softmax', [i], {}, x),
    (i, x) => {
      const axes = x.flatMap((_, axis) => (chance(0.5) ? [axis] : []));
      const keep = chance(0.5);
      const shape = x.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
      if (axes.length > 0 && shape.length > 0) apply(chance(0.5) ? 'sum' : 'mean', [i], { axes, keep }, shape);
    },
    (i, x) => {
      const axis = below(x.length);
      apply('concat', [i, i], { axis }, x.with(axis, 2 * x[axis]));
    },
    (i, x) => {
      if (x.length < 2) return;
      const [transposeA, transposeB] = [chance(0.5), chance(0.5)];
      const [rows, inner] = transposeA ? x.slice(-2).toReversed() : x.slice(-2);
      const columns = 1 + below(5);
      const batch = x.slice(0, -2);
      const other = batch.map((size) => (chance(0.3) ? 1 : size)).slice(below(batch.length + 1));
      const b = make([...other, ...(transposeB ? [columns, inner] : [inner, columns])]);
      const shape = [...broadcast(batch, other), rows, columns];
      apply('matmul', [i, b], { transposeA, transposeB, scale: 0.8 }, shape);
    },
    (i, x) => {
      const [scale, shift] = [make(x.slice(-1)), make(x.slice(-1))];
      apply('layer_norm', [i, scale, shift], { epsilon: 1e-2 }, x);
    },
    (i, x) => apply('activation', [i], { activation: 'tanh', slope: 0 }, x),
    (i, x) => {
      const same = shapes.flatMap((shape, j) => (shape.join() === x.join() ? [j] : []));
      apply(chance(0.5) ? 'add' : 'mul', [i, same[below(same.length)]], {}, x);
    },
    (i, x) => {
      if (x.length < 2) return;
      const shape = x.with(-1, x.at(-2)!);
      apply('matmul', [i, i], { transposeA: false, transposeB: true, scale: 0.5 }, shape);
    },
  ];

  for (let first = 0; first < 2; first++) {
    make(Array.from({ length: 1 + below(largestRank) }, () => [1, 1, 2, 2, 3, 5][below(6)]));
  }
  for (let op = 0; op < ops; op++) {
    const i = below(values.length);
    if (sizeOf(shapes[i]) <= largestSize) kinds[below(kinds.length)](i, shapes[i]);
  }

  const sums = shapes.slice().map((shape, i) => {
    const size = sizeOf(shape);
    const row = apply('reshape', [i], { shape: [1, size] }, [1, size]);
    const operands = [values[row], values[make([size, 1])], null];
    return add(graph?.one('dense', operands, { activation: 'none', slope: 0 }) ?? 0, [1, 1]);
  });
  return values[sums.reduce((sum, each) => apply('add', [sum, each], {}, [1, 1]))];
}

for (const seed of seeds) {
  test(`gradients of random graph ${seed}`, async () => {
    const parameters: Record<string, Shape> = {};
    makeGraph(seed, {
      graph: null,
      parameter: (name, shape) => {
        parameters[name] = shape;
        return 0;
      },
    });
    const { model, plan } = handMadePlan({
      inputs: 1,
      batch: 1,
      parameters,
      build: ({ graph, tensor }) => makeGraph(seed, { graph, parameter: (name) => tensor(name) }),
    });
    const names = model.parameters.map(({ name }) => name);
    const backend = createCpuBackend({ threads: 1 + (seed % 2) });
    const [reference, cpu] = [new ReferenceExecutable(plan), await backend.compile(plan)];
    const random = uniform(seed + 1000);
    for (const executable of [reference, cpu]) {
      executable.write('data.y', Float32Array.of(0.3));
      executable.write('step.indices', Uint32Array.of(0));
      executable.write('step.scalars', Float32Array.of(0, 1, 1, 0));
    }
    for (const { name, shape } of model.parameters) {
      const values = Float32Array.from({ length: sizeOf(shape) }, () => 1.4 * random() - 0.7);
      for (const executable of [reference, cpu]) executable.write(name, values);
    }
    await assertGradients(reference, 'train@1', names);
    await cpu.run('train@1', 1);
    for (const name of names) {
      const expected = reference.values(`gradient:${name}`);
      const found = (await cpu.read(`gradient:${name}`)) as Float32Array;
      const tolerance = 1e-4 * expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      expected.forEach((value, i) =>
        assert.ok(Math.abs(found[i] - value) < tolerance, `${name}[${i}]: ${found[i]} on the CPU, ${value} in float64`),
      );
    }
    await backend.close();
  });
}
