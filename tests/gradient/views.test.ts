// A value may be used many times, and through views (reshape): its gradient is complete, lies where the optimizer looks for it,
// and the parameter trains, on the reference and on the CPU.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Executable } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { ReferenceExecutable } from '../../engine/backends/reference/backend.ts';
import type { GraphBuilder, ValueId } from '../../engine/graph/graph.ts';
import { initializeWeights } from '../../engine/train/weights.ts';
import { assertGradients } from '../support/central-differences.ts';
import { type HandMade, handMadePlan } from '../support/hand-made.ts';
import { uniform } from '../support/table.ts';

const [batch, inputs] = [4, 6];
const dense = (graph: GraphBuilder, x: ValueId, w: ValueId, bias: ValueId | null = null): ValueId =>
  graph.one('dense', [x, w, bias], { activation: 'none', slope: 0 });
const view = (graph: GraphBuilder, x: ValueId, ...shape: number[]): ValueId => graph.one('reshape', [x], { shape });

const models: Readonly<Record<string, Omit<HandMade, 'batch' | 'inputs'>>> = {
  'a parameter through a reshape': {
    parameters: { w: [inputs] },
    build: ({ graph, tensor }, x) => dense(graph, x, view(graph, tensor('w'), inputs, 1)),
  },
  'a parameter through two reshapes in a row': {
    parameters: { w: [2, 3], b: [1, 1] },
    build: ({ graph, tensor }, x) =>
      dense(graph, x, view(graph, view(graph, tensor('w'), 3, 2), inputs, 1), view(graph, tensor('b'), 1)),
  },
  'a parameter used as it is and through a reshape': {
    parameters: { w: [inputs, 1] },
    build: ({ graph, tensor }, x) => {
      const direct = dense(graph, x, tensor('w'));
      const row = view(graph, tensor('w'), 1, inputs);
      const twisted = dense(graph, dense(graph, x, tensor('w')), row);
      return graph.one('add', [direct, dense(graph, twisted, tensor('w'))], {});
    },
  },
  'two views of one parameter': {
    parameters: { w: [12], v: [2] },
    build: ({ graph, tensor }, x) => {
      const [tall, wide] = [view(graph, tensor('w'), 6, 2), view(graph, tensor('w'), 2, 6)];
      const square = dense(graph, dense(graph, x, tall), wide);
      return dense(graph, dense(graph, square, tall), view(graph, tensor('v'), 2, 1));
    },
  },
  'two parameters with one gradient': {
    parameters: { a: [inputs, 1], b: [inputs, 1] },
    build: ({ graph, tensor }, x) => dense(graph, x, graph.one('add', [tensor('a'), tensor('b')], {})),
  },
  'three parameters with one gradient, one of them through a reshape': {
    parameters: { a: [inputs, 1], b: [inputs], c: [inputs, 1] },
    build: ({ graph, tensor }, x) => {
      const b = view(graph, tensor('b'), inputs, 1);
      return dense(graph, x, graph.one('add', [graph.one('add', [tensor('a'), b], {}), tensor('c')], {}));
    },
  },
  'a gradient that another one is made from': {
    parameters: { a: [inputs, 1], b: [inputs, 1] },
    build: ({ graph, tensor }, x) => {
      const b = graph.one('activation', [tensor('b')], { activation: 'tanh', slope: 0 });
      return dense(graph, x, graph.one('add', [tensor('a'), b], {}));
    },
  },
  'a view of a value that others use too': {
    parameters: { w: [inputs, 6], v: [6, 1] },
    build: ({ graph, tensor }, x) => {
      const hidden = graph.one('activation', [dense(graph, x, tensor('w'))], { activation: 'tanh', slope: 0 });
      const turned = view(graph, view(graph, hidden, 6, batch), batch, 6);
      return dense(graph, graph.one('add', [graph.one('add', [hidden, turned], {}), hidden], {}), tensor('v'));
    },
  },
  'a parameter the loss does not depend on': {
    parameters: { w: [inputs, 1], idle: [5] },
    build: ({ graph, tensor }, x) => dense(graph, x, tensor('w')),
  },
};

function fill(executable: Executable, steps: number): void {
  const random = uniform(5);
  executable.write(
    'data.x',
    Float32Array.from({ length: 12 * inputs }, () => random() * 2 - 1),
  );
  executable.write(
    'data.y',
    Float32Array.from({ length: 12 }, () => random() * 2 - 1),
  );
  executable.write(
    'step.indices',
    Uint32Array.from({ length: steps * batch }, (_, i) => (i * 5) % 12),
  );
}

for (const [name, model] of Object.entries(models)) {
  test(`gradient of ${name}`, async () => {
    const made = handMadePlan({ ...model, batch, inputs });
    const executable = new ReferenceExecutable(made.plan);
    initializeWeights(executable, made.model, 3);
    fill(executable, 1);
    executable.write('step.scalars', Float32Array.of(0, 1, 1, 0));
    const names = made.model.parameters.map((parameter) => parameter.name);
    await assertGradients(executable, `train@${batch}`, names);
    for (const parameter of names) {
      const dependent = executable.values(`gradient:${parameter}`).some((value) => value !== 0);
      assert.equal(dependent, parameter !== 'made.idle', `${parameter} has ${dependent ? 'a' : 'no'} gradient`);
    }
  });

  test(`${name} trains on the CPU`, async () => {
    const made = handMadePlan({ ...model, batch, inputs });
    const backend = createCpuBackend({ threads: 1 });
    const executable = await backend.compile(made.plan);
    initializeWeights(executable, made.model, 3);
    const names = made.model.parameters.map((parameter) => parameter.name).filter((each) => each !== 'made.idle');
    const before = await Promise.all(names.map((each) => executable.read(each)));
    fill(executable, 8);
    const scalars = Array.from({ length: 8 }, (_, i) => [0.05, 1 - 0.9 ** (i + 1), 1 - 0.999 ** (i + 1), 0]);
    executable.write('step.scalars', Float32Array.from(scalars.flat()));
    await executable.run(`train@${batch}`, 8);
    for (const [i, each] of names.entries()) assert.notDeepEqual(await executable.read(each), before[i], each);
    await backend.close();
  });
}
