// Where a network begins to read: vectors for the tokens of a text, and for their places. V tokens, L positions, D values.

import type { ValueId } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerSurroundings, type ParameterDef, type PlacedText } from '../layer.ts';
import { waves } from './places.ts';

/** The text a layer takes. Throws ModelError where there is none of that number. */
function textNumber(number: number, { texts }: LayerSurroundings): PlacedText {
  const text = texts[number - 1];
  if (text) return text;
  throw new ModelError(
    texts.length === 0 ? 'The data has no text to read.' : `There is no text ${number}, but ${texts.length}.`,
    texts.length === 0
      ? 'Have a column read as text (--text COL), or take this layer out.'
      : `Choose 1 to ${texts.length}.`,
  );
}

const deviation = {
  kind: 'number',
  label: 'Spread',
  help: 'standard deviation of the first values',
  minimum: 0.0001,
  maximum: 100,
  default: 0.02,
  advanced: true,
} as const;

export const tokenEmbedding = defineLayer({
  type: 'token_embedding',
  title: 'Token embedding',
  summary: 'Begins a branch from a text: a learned vector for each of its tokens, or pairs of neighbours.',
  group: 'text',
  fromText: true,
  positions: 'begins',
  looksAhead: ({ pairs }) => pairs > 0,
  fields: layerFields({
    dimensions: {
      kind: 'number',
      whole: true,
      label: 'Dimensions',
      help: 'values a token',
      minimum: 1,
      maximum: 65536,
      default: 128,
    },
    text: {
      kind: 'number',
      whole: true,
      label: 'Text',
      help: 'which of the texts, from 1 on',
      minimum: 1,
      maximum: 1000,
      default: 1,
    },
    pairs: {
      kind: 'number',
      whole: true,
      label: 'Pairs',
      help: 'rows for pairs of neighbours instead of a row a token, each pair by its hash; 0 = tokens',
      zero: 'tokens',
      minimum: 0,
      maximum: 16_777_216,
      default: 0,
      advanced: true,
    },
    deviation,
  }),
  shape: (_, { dimensions, text }, around) => [textNumber(text, around).length, dimensions],
  // Padding has no row.
  parameters: (_, { dimensions, text, deviation, pairs }, around) => [
    {
      name: 'weight',
      shape: [pairs || textNumber(text, around).vocabulary - 1, dimensions],
      initializer: { kind: 'normal', deviation },
      decay: true,
    },
  ],
  build: ({ graph, args, around, tensor, rows }) => {
    const { column, length } = textNumber(args.text, around);
    return graph.one('token_embedding', [tensor('weight'), rows], { column, length, pairs: args.pairs > 0 });
  },
  flops: () => 0,
});

export const positionEmbedding = defineLayer({
  type: 'position_embedding',
  title: 'Position embedding',
  summary: 'Adds a vector for each place in the sequence, so that attention knows the order.',
  group: 'text',
  positions: 'keeps',
  fields: layerFields({
    vectors: {
      kind: 'choice',
      label: 'Vectors',
      help: 'learned, or waves that need no learning; beside waves of size 1 tokens want a spread of about 1 too',
      choices: { learned: 'Learned', sinusoidal: 'Waves' },
      default: 'learned',
    },
    most: {
      kind: 'number',
      whole: true,
      label: 'Positions',
      help: 'places that have a vector; 0 = as many as the sequence has',
      zero: 'as many as there are',
      minimum: 0,
      maximum: 1_048_576,
      when: { vectors: ['learned'] },
      default: 0,
    },
    segments: {
      kind: 'number',
      whole: true,
      label: 'Segments',
      help: 'kinds of segments that have a vector, of which the first is added everywhere, as BERT does to a single text; 0 = none',
      zero: 'none',
      minimum: 0,
      maximum: 16,
      default: 0,
      advanced: true,
    },
    deviation,
  }),
  shape: ([input], { most, vectors }, { positions }) => {
    if (positions === null) {
      throw new ModelError('Position embedding needs a sequence.', 'Add a Token embedding layer before it.');
    }
    if (vectors === 'learned' && most > 0 && input[0] > most) {
      throw new ModelError(
        `Position embedding has ${most} places, the sequence is ${input[0]} long.`,
        `Cut texts to ${most} tokens, or set Positions to ${input[0]}.`,
      );
    }
    return input;
  },
  parameters: ([[length, dimensions]], { vectors, most, segments, deviation }) => {
    const table = (name: string, rows: number): ParameterDef => ({
      name,
      shape: [rows, dimensions],
      initializer: { kind: 'normal', deviation },
      decay: true,
    });
    return [
      ...(vectors === 'learned' ? [table('weight', most === 0 ? length : most)] : []),
      ...(segments > 0 ? [table('segment', segments)] : []),
    ];
  },
  states: ([[length, dimensions]], { vectors }) =>
    vectors === 'sinusoidal'
      ? [{ name: 'waves', shape: [length, dimensions], initial: 0, values: waves(length, dimensions) }]
      : [],
  build: ({ graph, tensor, args }, [x]) => {
    const first = (table: ValueId, size: number): ValueId =>
      graph.shape(table)[0] === size ? table : graph.one('slice', [table], { axis: 0, offset: 0, size });
    const places = args.vectors === 'learned' ? first(tensor('weight'), graph.shape(x)[1]) : tensor('waves');
    if (args.segments === 0) return graph.one('add', [x, places], {});
    return graph.one('add', [x, graph.one('add', [places, first(tensor('segment'), 1)], {})], {});
  },
  flops: ([input]) => sizeOf(input),
});
