// Layers that join branches: residual add and concat. Their `from` lists the layers to join.

import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import type { LayerDef } from '../layer.ts';

export const add: LayerDef = {
  type: 'add',
  title: 'Add',
  summary: 'Sums branches of the same shape: the residual connection.',
  group: 'join',
  fields: [],
  many: true,
  shape: (inputs) => {
    const [first, ...others] = inputs;
    for (const other of others) {
      if (other.join() !== first.join()) {
        throw new ModelError(
          `Add needs equal shapes, got ${first.join(' × ')} and ${other.join(' × ')}.`,
          'Give the branches the same number of units.',
        );
      }
    }
    return first;
  },
  build: ({ graph }, [first, ...others]) => others.reduce((sum, value) => graph.one('add', [sum, value], {}), first),
  flops: (inputs) => (inputs.length - 1) * sizeOf(inputs[0]),
};

export const concat: LayerDef = {
  type: 'concat',
  title: 'Concat',
  summary: 'Puts the features of branches side by side.',
  group: 'join',
  fields: [],
  many: true,
  shape: (inputs) => {
    const bad = inputs.find((input) => input.length !== 1);
    if (bad)
      throw new ModelError(`Concat needs flat inputs, got ${bad.join(' × ')}.`, 'Add a Flatten layer before it.');
    return [inputs.reduce((sum, input) => sum + input[0], 0)];
  },
  build: ({ graph }, inputs) => graph.one('concat', inputs, {}),
  flops: () => 0,
};

export const flatten: LayerDef = {
  type: 'flatten',
  title: 'Flatten',
  summary: 'Turns any shape into one row of features.',
  group: 'shape',
  fields: [],
  shape: ([input]) => [sizeOf(input)],
  build: ({ graph }, [x]) => {
    const [n, ...rest] = graph.shape(x);
    return rest.length === 1 ? x : graph.one('reshape', [x], { shape: [n, sizeOf(rest)] });
  },
  flops: () => 0,
};
