// Writing token by token with what is kept of those before: the same logits as computing the whole context, and one position a token.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import { gpt, type TextInput } from '../../engine/model/text-presets.ts';
import { trainTokenizer } from '../../engine/text/tokenizers.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { fromCodes, generate, type Following } from '../../engine/train/generate.ts';
import { Incremental } from '../../engine/train/incremental.ts';
import { ResidentNetwork } from '../../engine/train/resident-network.ts';
import type { TrainedNetwork } from '../../engine/train/predict.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import type { Weights } from '../../engine/train/weights.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz \n';
const tokenizer = trainTokenizer([letters], { kind: 'characters', vocabulary: 64 });
const length = 130;
const classes = Array.from({ length: tokenizer.vocabulary }, (_, id) => `token ${id}`);
const texts = [{ name: 'text', vocabulary: tokenizer.vocabulary + 1, length, predicted: true as const }];
const input: TextInput = { kind: 'table', width: length, numeric: 0, embeddings: [], texts };
const output = { kind: 'classes', name: 'text', classes } as const;

/** Drawn large enough that every token matters to every other. */
function weightsOf(model: ModelSpec): Weights {
  let state = 1;
  const drawn = (): number => ((state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31 - 0.5) * 0.6;
  const { parameters, states } = resolveModel(model, input, classes.length);
  return Object.fromEntries([
    ...parameters.map(({ name, shape }) => [
      name,
      { shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, drawn) },
    ]),
    ...states.map(({ name, shape, values }) => [name, { shape, data: values! }]),
  ]);
}

/** Llama's blocks: RMS norm, rotary places, keys that heads share, SwiGLU. */
const llamaBlock = (id: string, from: string): ModelSpec['layers'] => [
  { type: 'rms_norm', id: `${id}n`, from },
  {
    type: 'attention',
    id: `${id}a`,
    heads: 4,
    groups: 2,
    causal: true,
    bias: false,
    rotary: true,
    base: 50,
    dropout: 0.1,
  },
  { type: 'add', id: `${id}s`, from: [from, `${id}a`] },
  { type: 'rms_norm', id: `${id}m` },
  { type: 'gated_dense', units: 40, bias: id === 'b' },
  { type: 'dense', id: `${id}f`, units: 32, activation: 'none', bias: false },
  { type: 'add', id, from: [`${id}s`, `${id}f`] },
];

const models: readonly ModelSpec[] = [
  {
    version: 1,
    preset: 'llama',
    layers: [
      { type: 'token_embedding', id: 'tokens', dimensions: 32 },
      ...llamaBlock('a', 'tokens'),
      ...llamaBlock('b', 'a'),
      { type: 'rms_norm' },
      { type: 'pool_positions', pool: 'last' },
      { type: 'output' },
    ],
  },
  gpt('gpt', { blocks: 2, width: 32, heads: 4, positions: 0, dropout: 0.1 })(input),
  {
    version: 1,
    layers: [
      { type: 'token_embedding', dimensions: 24 },
      { type: 'position_embedding', most: 140, segments: 2 },
      { type: 'position_embedding', id: 'p', vectors: 'sinusoidal' },
      { type: 'attention', id: 'a', heads: 6, groups: 2, causal: true, bias: false },
      { type: 'activation', activation: 'silu' },
      { type: 'add', id: 'sum', from: ['p', 'a'] },
      { type: 'dense', units: 10, activation: 'leaky_relu', slope: 0.3 },
      { type: 'pool_positions', pool: 'last' },
      { type: 'output' },
    ],
  },
];

for (const model of models) {
  test(`${model.preset ?? 'grouped heads'}: the logits are those of the whole context, one position a token`, async (context) => {
    const weights = weightsOf(model);
    const resolved = resolveModel(model, input, classes.length);
    const incremental = Incremental.of(resolved, weights)!;
    const backend = createCpuBackend({ threads: 1 });
    context.after(() => backend.close());
    const network = { model, input, output, training: defaultTraining(100, 'language', input, model), weights };
    const counts = { train: 0, validation: 0, test: 0 };
    const data = { input, output, task: 'language', counts, width: length, targets: 1, shardStarts: [0, 0] };
    const resident = await ResidentNetwork.open(
      network as unknown as TrainedNetwork,
      backend,
      data as unknown as PreparedData,
    );
    context.after(() => resident.close());
    const whole = fromCodes(length, (codes) => resident.outputs(codes, 1));
    let tokens = 0;
    const compared: Following = async (ids) => {
      tokens++;
      const [wanted, found] = [await whole(ids), incremental.following(ids)];
      const largest = Math.max(...wanted.map(Math.abs));
      wanted.forEach((value, at) => assert.ok(Math.abs(value - found[at]) <= 1e-5 * largest, `${tokens}: ${at}`));
      return found;
    };
    const language = { tokenizer, length };
    const options = { prompt: 'the cat', tokens: 400, temperature: 1, topP: 0.95, seed: 3 };
    const written = async (following: Following): Promise<string> => {
      let text = '';
      for await (const piece of generate(following, language, options)) text += piece;
      return text;
    };
    const text = await written(compared);
    assert.equal(text, await written(whole));
    assert.equal(text.length, 400);
    // The prompt, a position a token, and half of the context anew each of the five times it is full.
    assert.equal(tokens, 400);
    assert.equal(incremental.positions, 7 + 399 + 5 * 64);
  });
}

test('another text begins with nothing of the one before, and what it shares is not computed again', () => {
  const [model] = models;
  const weights = weightsOf(model);
  const resolved = resolveModel(model, input, classes.length);
  const [used, fresh] = [Incremental.of(resolved, weights)!, Incremental.of(resolved, weights)!];
  used.following([1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(used.following([1, 2, 9]), fresh.following([1, 2, 9]));
  assert.equal(used.positions, 8);
  assert.deepEqual(used.following([4]), Incremental.of(resolved, weights)!.following([4]));
});

test('a model that looks at the whole at once is not asked token by token', () => {
  const model: ModelSpec = {
    version: 1,
    layers: [{ type: 'token_embedding', dimensions: 8 }, { type: 'pool_positions', pool: 'mean' }, { type: 'output' }],
  };
  const read = { ...input, texts: texts.map(({ predicted: _, ...text }) => text) };
  const resolved = resolveModel(model, read, classes.length);
  const weights = Object.fromEntries(
    resolved.parameters.map(({ name, shape }) => [
      name,
      { shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) },
    ]),
  );
  assert.equal(Incremental.of(resolved, weights), null);
});
