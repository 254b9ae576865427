// Periodic embeddings of numbers: Gorishniy et al. 2022 (arXiv 2203.05556) in the form of Holzmüller et al. 2024 ("PBLD"): each number x
// becomes [x, W·cos 2π(f·x + p) + b]. B rows, F numbers, K frequencies, E values a number.

import type { GraphBuilder, ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerSurroundings } from '../layer.ts';

/** Neighbouring columns, numbers or not. */
interface Run {
  readonly first: number;
  readonly count: number;
}

/** The columns as runs of neighbours: those that are numbers, and the others. */
function runsOf(
  width: number,
  numbers: readonly number[],
): { readonly numbers: readonly Run[]; readonly others: readonly Run[] } {
  const wanted = new Set(numbers);
  const runs = { numbers: [] as Run[], others: [] as Run[] };
  for (let first = 0; first < width;) {
    const is = wanted.has(first);
    let end = first + 1;
    while (end < width && wanted.has(end) === is) end++;
    runs[is ? 'numbers' : 'others'].push({ first, count: end - first });
    first = end;
  }
  return runs;
}

function columns(graph: GraphBuilder, x: ValueId, runs: readonly Run[]): ValueId {
  const parts = runs.map(({ first, count }) => graph.one('slice', [x], { axis: 1, offset: first, size: count }));
  return parts.length === 1 ? parts[0] : graph.one('concat', parts, { axis: 1 });
}

function widthOf(
  [input]: readonly (readonly number[])[],
  { numbers, onColumns }: LayerSurroundings,
  width: number,
): number {
  if (!onColumns || input.length !== 1) {
    throw new ModelError(
      'Number embedding works on the columns of the table.',
      'Move it to the front, behind nothing but Robust scale and Scale columns.',
    );
  }
  return input[0] + numbers.length * (width - 1);
}

export const numberEmbedding = defineLayer({
  type: 'number_embedding',
  title: 'Number embedding',
  summary: 'Gives each number of the table a few waves of its own, so that a network sees steps and bumps in it.',
  group: 'core',
  fields: layerFields({
    frequencies: {
      kind: 'number',
      whole: true,
      label: 'Waves',
      help: 'waves a number',
      minimum: 1,
      maximum: 256,
      default: 16,
    },
    width: {
      kind: 'number',
      whole: true,
      label: 'Values',
      help: 'values a number becomes, itself the first',
      minimum: 2,
      maximum: 64,
      default: 4,
    },
    deviation: {
      kind: 'number',
      label: 'Spread of frequencies',
      help: 'standard deviation of the first frequencies, in turns',
      minimum: 0.0001,
      maximum: 100,
      default: 0.1,
    },
    rate: {
      kind: 'number',
      label: 'Rate factor',
      help: 'share of the learning rate of others',
      minimum: 0.001,
      maximum: 1000,
      default: 0.1,
    },
  }),
  shape: (inputs, { width }, around) => [widthOf(inputs, around, width)],
  parameters: (_, { frequencies, width, deviation, rate }, { numbers }) => {
    const count = numbers.length;
    if (count === 0) return [];
    const fromWaves = { kind: 'uniform', bound: 1 / Math.sqrt(frequencies) } as const;
    const out = width - 1;
    return [
      {
        name: 'frequency',
        shape: [count, 1, frequencies],
        initializer: { kind: 'normal', deviation },
        decay: false,
        rate,
      },
      {
        name: 'phase',
        shape: [count, 1, frequencies],
        initializer: { kind: 'uniform', bound: 0.5 },
        decay: false,
        rate,
      },
      { name: 'weight', shape: [count, frequencies, out], initializer: fromWaves, decay: true, rate },
      { name: 'bias', shape: [count, 1, out], initializer: fromWaves, decay: false, rate },
    ];
  },
  build: ({ graph, tensor, args, around }, [x]) => {
    const [batch, whole] = graph.shape(x);
    const { numbers } = around;
    if (numbers.length === 0) return x;
    const runs = runsOf(whole, numbers);
    const values = columns(graph, x, runs.numbers);
    const rows = graph.one('reshape', [values], { shape: [batch, numbers.length, 1] });
    const byNumber = graph.one('transpose', [rows], { permutation: [1, 0, 2] });
    const turns = graph.one('add', [graph.one('mul', [byNumber, tensor('frequency')], {}), tensor('phase')], {});
    const waves = graph.one('activation', [turns], { activation: 'cosine', slope: 0 });
    const plain = { transposeA: false, transposeB: false, scale: 1 };
    const mixed = graph.one('add', [graph.one('matmul', [waves, tensor('weight')], plain), tensor('bias')], {});
    const joined = graph.one('concat', [byNumber, mixed], { axis: 2 });
    const back = graph.one('transpose', [joined], { permutation: [1, 0, 2] });
    const flat = graph.one('reshape', [back], { shape: [batch, numbers.length * args.width] });
    if (runs.others.length === 0) return flat;
    return graph.one('concat', [flat, columns(graph, x, runs.others)], { axis: 1 });
  },
  flops: (_, [output], { frequencies, width }) => output * frequencies * (2 + 8 / width),
});
