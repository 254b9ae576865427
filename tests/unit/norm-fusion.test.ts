// What follows a batch norm in training is done while its result is in registers or in the cache: fusion merges it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { workloads } from '../../engine/bench/workloads.ts';
import { newGraph } from '../../engine/graph/builder.ts';
import { fuse } from '../../engine/graph/fusion.ts';
import type { GraphBuilder, NodeOf, ValueId } from '../../engine/graph/graph.ts';

const none = { activation: 'none', slope: 0 } as const;
const norm = { epsilon: 1e-5, momentum: 0.1, runningMean: 'm', runningVariance: 'v', ...none } as const;
const relu = { activation: 'relu', slope: 0 } as const;

const named = (graph: GraphBuilder, name: string): ValueId =>
  graph.one('state', [], { name, shape: name === 'x' || name === 'skip' ? [2, 3, 4, 4] : [3] });

/** Batch norm of x in a new graph, and what `build` makes of it. */
function normalised(build: (graph: GraphBuilder, y: ValueId) => readonly ValueId[]) {
  const graph = newGraph();
  const inputs = ['x', 'gamma', 'beta'].map((name) => named(graph, name));
  const roots = build(graph, graph.one('batch_norm', inputs, norm));
  const fused = fuse(graph, roots).graph.nodes.filter(({ op }) => op !== 'state');
  return {
    ops: fused.map(({ op }) => op),
    norms: fused.filter((node): node is NodeOf<'batch_norm'> => node.op === 'batch_norm'),
  };
}

test('an activation joins the batch norm before it', () => {
  const { ops, norms } = normalised((graph, y) => [graph.one('activation', [y], relu)]);
  assert.deepEqual(ops, ['batch_norm']);
  assert.deepEqual(norms[0].attributes, { ...norm, ...relu });
});

test('a normalised value that somebody else reads stays', () => {
  const kept = normalised((graph, y) => [graph.one('activation', [y], relu), y]);
  assert.deepEqual(kept.ops, ['batch_norm', 'activation']);
  const twice = normalised((graph, y) =>
    ['relu', 'tanh'].map((activation) => graph.one('activation', [y], { activation, slope: 0 } as typeof relu)),
  );
  assert.deepEqual(twice.ops, ['batch_norm', 'activation', 'activation']);
});

for (const [name, left] of [
  ['mobilenet-96', 0],
  ['resnet20', 9],
] as const) {
  test(`a step of ${name} runs ${left} activations of their own`, () => {
    const [{ program }] = workloads.find((workload) => workload.name === name)!.programs;
    assert.equal(program.calls.filter(({ kernel }) => kernel === 'activation').length, left);
  });
}
