// The text presets are the transformers of the literature: parameters exactly, work within a percent of the published figures.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sizeOf } from '../../engine/graph/op.ts';
import {
  defaultPreset,
  defaultTraining,
  presetFits,
  presetNamed,
  presets,
  specOf,
} from '../../engine/model/presets.ts';
import { resolveModel, tryResolve } from '../../engine/model/resolve.ts';
import type { InputSpec, LayerSpec } from '../../engine/model/spec.ts';

const wordpieces = 30_522;
const textsOf = (vocabulary: number, length: number, more: object = {}): InputSpec => ({
  kind: 'table',
  width: length,
  numeric: 0,
  embeddings: [],
  texts: [{ name: 'text', vocabulary: vocabulary + 1, length }],
  ...more,
});

interface Published {
  readonly preset: string;
  readonly vocabulary: number;
  /** Of the body with its pooler or dense layer, without the output. */
  readonly parameters: number;
  readonly source: string;
}

const published: readonly Published[] = [
  ...(
    [
      ['bert-tiny', 4_385_920],
      ['bert-mini', 11_170_560],
      ['bert-small', 28_763_648],
      ['bert-base', 109_482_240],
    ] as const
  ).map(([preset, parameters]) => ({
    preset,
    vocabulary: wordpieces,
    parameters,
    source: 'transformers.BertModel in the sizes of Turc et al. 2019 (table 1: 4.4, 11.3, 29.1 and 110.1 million)',
  })),
  {
    preset: 'distilbert',
    vocabulary: wordpieces,
    parameters: 66_362_880 + 768 * 768 + 768,
    source: 'transformers.DistilBertModel, and the dense layer of its classifier',
  },
  { preset: 'gpt-small', vocabulary: 50_257, parameters: 124_439_808, source: 'transformers.GPT2Model, “124M”' },
];

for (const { preset, vocabulary, parameters, source } of published) {
  test(`${preset} has the published parameters`, () => {
    const input = textsOf(vocabulary, 128);
    const model = resolveModel(specOf(presetNamed(preset)!, input), input, 2);
    const output = model.layers.at(-1)!.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    assert.equal(
      model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), -output),
      parameters,
      source,
    );
  });
}

test('work is as published: 22.5 and 11.3 billion operations at 128 tokens (Jiao et al. 2020, table 1)', () => {
  for (const [preset, billions] of [
    ['bert-base', 22.5],
    ['distilbert', 11.3],
  ] as const) {
    const input = textsOf(wordpieces, 128);
    const { layers } = resolveModel(specOf(presetNamed(preset)!, input), input, 2);
    const flops = layers.reduce(
      (sum, { def, inputShapes, outputShape, args }) => sum + def.flops(inputShapes, outputShape, args),
      0,
    );
    assert.ok(Math.abs(flops / 1e9 - billions) < 0.01 * billions, `${preset}: ${flops / 1e9}`);
  }
});

test('few texts get a bag of words and pairs, many the text classifier, and every preset says what it is for', () => {
  const input = textsOf(1000, 64);
  assert.equal(defaultPreset(1000, input, 2).name, 'text-bag');
  assert.equal(defaultPreset(50_000, input, 2).name, 'text-small');
  const fitting = presets.filter((preset) => presetFits(preset, input)).map(({ name }) => name);
  assert.deepEqual(
    fitting,
    presets.filter((preset) => preset.input === 'text').map(({ name }) => name),
  );
  const numbers: InputSpec = { kind: 'table', width: 3, numeric: 3, embeddings: [] };
  assert.ok(presets.every((preset) => presetFits(preset, numbers) === (preset.input === 'table')));
  const model = specOf(presetNamed('text-small')!, input);
  const { optimizer, batch } = defaultTraining(1000, 'classification', input, model);
  assert.deepEqual([optimizer.name, optimizer.learningRate, batch], ['adamw', 5e-4, 32]);
});

test('numbers, categories and further texts join the first one, in every preset', () => {
  const embeddings = [{ name: 'city', vocabulary: 5, dimensions: 3 }];
  const texts = [
    { name: 'title', vocabulary: 100, length: 8 },
    { name: 'body', vocabulary: 100, length: 16 },
  ];
  const input = textsOf(0, 0, { width: 2 + 1 + 24, numeric: 2, embeddings, texts });
  for (const preset of presets.filter(({ input }) => input === 'text')) {
    const { layers } = resolveModel(specOf(preset, input), input, 2);
    const joined = layers.at(-2)!;
    assert.equal(joined.def.type, 'concat', preset.name);
    const [width] = layers.find(({ id }) => id === 'pooled')!.outputShape;
    assert.deepEqual(joined.outputShape, [2 * width + 2 + 3], preset.name);
  }
});

test('recurrent layers have the parameters of PyTorch’s, both ways twice as many', () => {
  const input = textsOf(100, 20);
  const counted = (layer: LayerSpec): number => {
    const layers = [
      { type: 'token_embedding', dimensions: 100 },
      { ...layer, id: 'read' },
      { type: 'pool_positions' },
      { type: 'output' },
    ];
    const { parameters } = resolveModel({ version: 1, layers }, input, 2);
    return parameters.filter(({ name }) => name.startsWith('read.')).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  };
  // Counted by torch.nn.LSTM(100, 64), torch.nn.GRU(100, 64).
  assert.equal(counted({ type: 'lstm', units: 64 }), 42_496);
  assert.equal(counted({ type: 'gru', units: 64 }), 31_872);
  assert.equal(counted({ type: 'gru', units: 64, direction: 'both' }), 2 * 31_872);
});

test('a language model refuses what reads backwards', () => {
  const input = textsOf(0, 0, { texts: [{ name: 'text', vocabulary: 101, length: 20, predicted: true }] });
  const errors = (direction: string): readonly string[] => {
    const layers = [
      { type: 'token_embedding' },
      { type: 'lstm', direction },
      { type: 'pool_positions', pool: 'last' },
      { type: 'output' },
    ];
    return tryResolve({ version: 1, layers }, input, 101).errors.map(({ message }) => message);
  };
  assert.deepEqual(errors('forward'), []);
  for (const direction of ['backward', 'both']) assert.match(errors(direction).join(), /LSTM looks ahead/);
});

test('what does not fit is said with what to do', () => {
  const input = textsOf(100, 20);
  const tokens = { type: 'token_embedding', dimensions: 8 };
  const pool = { type: 'pool_positions' };
  const output = { type: 'output' };
  const wrong = (message: RegExp, ...layers: readonly object[]): void => {
    const spec = { version: 1, layers: [...layers, output] } as Parameters<typeof resolveModel>[0];
    assert.throws(() => resolveModel(spec, input, 2), message);
  };
  wrong(/Layer 2 .*Output does not work on sequences/, tokens);
  wrong(/has 10 places, the sequence is 20 long/, tokens, { type: 'position_embedding', most: 10 }, pool);
  wrong(/3 heads do not divide 8 values/, tokens, { type: 'attention', heads: 3 }, pool);
  wrong(/3 groups do not divide 4 heads/, tokens, { type: 'attention', heads: 4, groups: 3 }, pool);
  wrong(
    /heads of 3 values make no pairs/,
    { ...tokens, dimensions: 6 },
    { type: 'attention', heads: 2, rotary: true },
    pool,
  );
  wrong(/LSTM needs a sequence/, tokens, pool, { type: 'lstm' });
  wrong(/There is no text 2, but 1/, { ...tokens, text: 2 }, pool);
  wrong(/begins a branch/, tokens, { ...tokens, from: '0' }, pool);
  wrong(/Attention needs a sequence/, tokens, pool, { type: 'attention' });
  wrong(
    /joins sequences of different texts/,
    { ...tokens, id: 'a' },
    { ...pool, id: 'b' },
    { type: 'add', from: ['a', 'b'] },
  );
});
