// Gradient cases of the layers on sequences: texts of 1 to `length` tokens, so that padding is masked in all of them.

import type { LayerSpec } from '../../engine/model/spec.ts';
import { preNormBlock, postNormBlock } from '../../engine/model/text-presets.ts';
import type { TableOptions } from '../support/table.ts';

interface SequenceCase {
  readonly name: string;
  readonly layers: readonly LayerSpec[];
  readonly table: Partial<TableOptions>;
}

const texts = [{ vocabulary: 6, length: 5 }];
const tokens = { type: 'token_embedding', dimensions: 4, deviation: 1 };
const places = { type: 'position_embedding', deviation: 1 };
const dense = { type: 'dense', units: 3, activation: 'tanh' };
const output = { type: 'output' };

const onText = (name: string, ...layers: readonly LayerSpec[]): SequenceCase => ({
  name,
  table: { numeric: 0, texts },
  layers: [tokens, ...layers, output],
});

const block = { blocks: 1, width: 4, heads: 2, inner: 6, positions: 0, epsilon: 1e-5 } as const;

export const sequenceCases: readonly SequenceCase[] = [
  ...['mean', 'first', 'last', 'attention'].map((pool) =>
    onText(`tokens and ${pool} position`, places, { type: 'pool_positions', pool }),
  ),
  {
    name: 'pairs of tokens',
    table: { numeric: 0, texts },
    layers: [{ ...tokens, pairs: 5 }, { type: 'pool_positions' }, output],
  },
  onText('more places than positions, and segments', { ...places, most: 9, segments: 2 }, { type: 'pool_positions' }),
  onText('attention', places, { type: 'attention', heads: 2 }, { type: 'pool_positions' }, dense),
  onText(
    'causal attention',
    places,
    { type: 'attention', heads: 2, causal: true },
    { type: 'pool_positions', pool: 'last' },
  ),
  onText(
    'attention in groups, without bias',
    { type: 'attention', heads: 4, groups: 2, bias: false },
    { type: 'pool_positions' },
  ),
  onText('waves for places', { ...places, vectors: 'sinusoidal', segments: 1 }, { type: 'pool_positions' }, dense),
  onText(
    'block of Llama: RMS norm, rotary places, gated dense',
    { type: 'rms_norm' },
    { type: 'attention', heads: 2, groups: 1, bias: false, causal: true, rotary: true, base: 20 },
    { type: 'gated_dense', units: 3, bias: false },
    { type: 'pool_positions', pool: 'last' },
  ),
  onText(
    'rotary places without a mask of order',
    { type: 'attention', heads: 1, rotary: true },
    { type: 'gated_dense', units: 2, activation: 'sigmoid' },
    { type: 'pool_positions' },
  ),
  ...['lstm', 'gru'].flatMap((type) =>
    (['forward', 'backward', 'both'] as const).map((direction) =>
      onText(`${type} ${direction}`, { type, units: 3, direction }, { type: 'pool_positions' }, dense),
    ),
  ),
  onText('conv 1D', { type: 'conv1d', filters: 3, activation: 'silu' }, { type: 'pool_positions' }, dense),
  onText(
    'conv 1D, causal, far apart, without bias',
    { type: 'conv1d', filters: 3, kernel: 2, dilation: 2, causal: true, bias: false, activation: 'tanh' },
    { type: 'pool_positions', pool: 'last' },
  ),
  onText(
    'conv 1D of an even kernel',
    { type: 'conv1d', filters: 2, kernel: 4, activation: 'none' },
    { type: 'pool_positions' },
  ),
  onText('lstm, of which the last counts', { type: 'lstm', units: 2 }, { type: 'pool_positions', pool: 'last' }),
  {
    name: 'a row of numbers through recurrent layers',
    table: { numeric: 6 },
    layers: [
      { type: 'sequence', length: 3 },
      { type: 'gru', units: 3, direction: 'both' },
      { type: 'lstm', units: 2 },
      { type: 'pool_positions', pool: 'last' },
      output,
    ],
  },
  ...[false, true].map((causal) =>
    onText(
      `attention that drops weights${causal ? ', causal' : ''}`,
      places,
      { type: 'attention', heads: 4, groups: 2, causal, dropout: 0.3 },
      { type: 'pool_positions' },
      dense,
    ),
  ),
  onText(
    'pre-norm block',
    { ...places, id: 'places' },
    ...preNormBlock('b', 'places', { ...block, activation: 'gelu' }),
    { type: 'layer_norm' },
    { type: 'pool_positions' },
  ),
  onText(
    'post-norm block with dropout',
    { ...places, id: 'places' },
    ...postNormBlock('b', 'places', { ...block, activation: 'gelu', causal: true, dropout: 0.3 }),
    { type: 'pool_positions', pool: 'first' },
  ),
  {
    name: 'a row of numbers as a sequence',
    table: { numeric: 6 },
    layers: [
      { type: 'sequence', id: 'steps', length: 3 },
      { type: 'dense', units: 4, activation: 'tanh' },
      { type: 'attention', heads: 2, causal: true },
      { type: 'pool_positions', pool: 'last' },
      output,
    ],
  },
  onText('all positions side by side', { type: 'flatten' }, dense),
  {
    name: 'two texts beside numbers and categories',
    table: {
      numeric: 2,
      embeddings: [{ vocabulary: 4, dimensions: 2 }],
      texts: [...texts, { vocabulary: 4, length: 3 }],
    },
    layers: [
      tokens,
      { type: 'attention', heads: 1 },
      { type: 'pool_positions', id: 'first' },
      { ...tokens, text: 2, dimensions: 3 },
      { type: 'attention', heads: 3 },
      { type: 'pool_positions', id: 'second' },
      { type: 'concat', from: ['first', 'second', 'input'] },
      output,
    ],
  },
  {
    name: 'a text beside numbers',
    table: { numeric: 2, texts },
    layers: [tokens, { type: 'pool_positions', id: 'text' }, { type: 'concat', from: ['text', 'input'] }, output],
  },
];
