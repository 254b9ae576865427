// Text models of Hugging Face, read from the files of their folders: they answer as transformers does, and what does not fit is named.

import assert from 'node:assert/strict';
import test from 'node:test';
import { RowReader } from '../../engine/data/preprocess/one-row.ts';
import { encodeText } from '../../engine/data/preprocess/texts.ts';
import { parsePreprocessing, textFeatures, type TextRecipe } from '../../engine/data/preprocess/recipe.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import type { Pretrained } from '../../engine/pretrained/pretrained.ts';
import { readPretrained, runOf } from '../../engine/pretrained/read.ts';
import { openSafetensors } from '../../engine/pretrained/safetensors-file.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { TextWriter } from '../../engine/serving/text-writer.ts';
import { tokenizerOf } from '../../engine/text/tokenizers.ts';
import { probabilities } from '../../engine/train/metrics.ts';
import { networkOutputs } from '../../engine/train/predict.ts';
import { encodeSafetensors } from '../../engine/train/safetensors.ts';
import { folderOf, goldenTexts, textTensorsOf, valuesOf, type GoldenText } from '../golden/pretrained-texts.ts';

const { texts, models } = goldenTexts;

async function read(files: Readonly<Record<string, string | Uint8Array>>, options = {}): Promise<Pretrained> {
  const { 'model.safetensors': bytes, ...beside } = files;
  const file = bytes as Uint8Array;
  const source = {
    name: 'model.safetensors',
    size: file.length,
    read: async (start: number, end: number) => file.slice(start, end),
  };
  const tensors = await openSafetensors(source);
  return readPretrained({ name: 'folder', tensors, texts: beside as Record<string, string> }, options);
}

const textOf = (net: Pretrained): TextRecipe => textFeatures(parsePreprocessing(net.preprocessing))[0];

async function answers(net: Pretrained): Promise<Float64Array | Float32Array> {
  const feature = textOf(net);
  const { length } = feature;
  const x = new Float32Array(texts.length * length);
  texts.forEach((text, row) => encodeText(feature, text, x, row * length));
  const rows = texts.length;
  const data = {
    ...{ handle: '', input: net.input, output: net.output, task: net.task },
    ...{ counts: { train: 0, validation: 0, test: rows }, width: length, targets: 1, shardStarts: [0, rows] },
    ...{ classCounts: [], preprocessing: null, warnings: [] },
  } satisfies PreparedData;
  const { outputs } = await networkOutputs(
    { ...net, training: defaultTraining(1, net.task, net.input, net.model) },
    createCpuBackend({ threads: 1 }),
    data,
    async () => ({ rows, x, y: new Float32Array(rows) }),
    1e9,
  );
  return net.output.kind === 'classes' ? probabilities(outputs, rows, net.output.classes.length) : outputs;
}

async function answersAs(net: Pretrained, answersOfTexts: readonly (readonly number[])[]): Promise<void> {
  const got = await answers(net);
  const wanted = answersOfTexts.flat();
  assert.equal(got.length, wanted.length);
  const worst = Math.max(...wanted.map((value, i) => Math.abs(value - got[i])));
  assert.ok(worst < 1e-5, `${worst} from PyTorch's answers`);
}

for (const [name, golden] of Object.entries(models).filter(([, { answers }]) => answers.length > 0)) {
  test(`${name} answers as transformers does`, async () => {
    const net = await read(folderOf(golden));
    assert.deepEqual([net.head, net.said], [true, []]);
    if (net.output.kind === 'classes') assert.deepEqual(net.output.classes, ['dull', 'fine', 'odd']);
    await answersAs(net, golden.answers);
  });

  test(`${name} that keeps the ends of long texts answers as transformers does`, async () => {
    const beside = { 'tokenizer_config.json': JSON.stringify({ truncation_side: 'left' }) };
    const net = await read({ ...folderOf(golden), ...beside });
    assert.deepEqual(net.said, []);
    await answersAs(net, goldenTexts.ends[name]);
  });
}

test('a text is read from its end alone where that is kept: no half character, all of a short one', () => {
  const alphabet = { kind: 'characters', characters: 'abcd' };
  const base = { kind: 'text' as const, column: 'text', missing: [], vocabulary: 5, length: 3 };
  const read = (text: string, characters: number): readonly number[] => {
    const x = new Float32Array(3);
    encodeText({ ...base, tokenizer: alphabet, characters, keepsEnd: true }, text, x, 0);
    return [...x];
  };
  assert.deepEqual(read('dcab', 9), [4, 2, 3]);
  assert.deepEqual(read('dcab', 2), [2, 3, 0]);
  assert.deepEqual(read('d😀ab', 3), [2, 3, 0]);
  assert.deepEqual(read('d', 3), [5, 0, 0]);
});

test('the padding that RoBERTa gives no place is known by how it is written, and told of where a row has it', async () => {
  const net = await read(folderOf(models.roberta));
  assert.equal(textOf(net).placeless, '<pad>');
  const reader = new RowReader(parsePreprocessing(net.preprocessing));
  const { warnings } = reader.read([{ text: 'the <pad> yard' }, { text: 'the yard' }, { text: null }]);
  assert.match(warnings.join(), /^text: 1 text has “<pad>” in it, the padding of this model/);
  assert.deepEqual(reader.read([{ text: 'the yard' }]).warnings, []);
  for (const name of ['bert', 'gpt2']) assert.equal(textOf(await read(folderOf(models[name]))).placeless, undefined);
});

for (const [name, head] of [
  ['tied', {}],
  ['own', { tie_word_embeddings: false }],
] as const) {
  test(`a language model whose output is ${name} writes what transformers writes`, async () => {
    const { written } = goldenTexts;
    const { 'score.weight': _, ...body } = models.gpt2.tensors;
    const tokens = body['transformer.wte.weight'];
    const model = { ...models.gpt2, tensors: body };
    const files = folderOf(changed(model, { architectures: ['GPT2LMHeadModel'], id2label: undefined, ...head }));
    const own = {
      'lm_head.weight': {
        shape: tokens,
        data: valuesOf('lm_head.weight', tokens, Object.keys(models.gpt2.tensors).length),
      },
    };
    const tensors = { ...textTensorsOf(model), ...(name === 'own' && own) };
    const net = await read({ ...files, 'model.safetensors': encodeSafetensors({ tensors, metadata: {} }) });
    assert.deepEqual([net.head, net.task, net.said], [true, 'language', []]);
    const run = runOf(net).files;
    const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    const source = {
      run: 1,
      model: decoded(run['model.json']),
      weights: run['best.safetensors'],
      preprocessing: decoded(run['preprocessing.json']),
    };
    const writer = (await TextWriter.open(source, async () => createCpuBackend({ threads: 1 })))!;
    const likeliest = { tokens: 12, temperature: 0, topP: 1, seed: 1 };
    let text = '';
    for await (const piece of writer.write({ prompt: written.prompt, ...likeliest })) text += piece;
    await writer.close();
    assert.equal(text, written[name]);
  });
}

const changed = (model: GoldenText, config: object): GoldenText => ({
  ...model,
  config: { ...model.config, ...config },
});
const refused = (work: Promise<unknown>, code: string, message: RegExp): Promise<void> =>
  assert.rejects(work, (error: Error & { code: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });

test('attention drops the weights that the config says', async () => {
  const ratesOf = async (model: GoldenText, config: object): Promise<unknown[]> => {
    const { layers } = (await read(folderOf(changed(model, config)))).model;
    return [...new Set(layers.filter(({ type }) => type === 'attention').map((layer) => layer['dropout']))];
  };
  assert.deepEqual(await ratesOf(models.bert, { attention_probs_dropout_prob: 0.25 }), [0.25]);
  assert.deepEqual(await ratesOf(models.bert, { attention_probs_dropout_prob: 0 }), [undefined]);
  assert.deepEqual(await ratesOf(models.distilbert, { attention_dropout: 0.3 }), [0.3]);
  assert.deepEqual(await ratesOf(models.gpt2, { attn_pdrop: 0.05 }), [0.05]);
});

test('other names of an activation are that activation', async () => {
  for (const [theirs, ours] of [
    ['gelu_fast', 'gelu_tanh'],
    ['gelu_accurate', 'gelu_tanh'],
    ['gelu_python', 'gelu'],
    ['relu6', 'relu6'],
  ]) {
    const { layers } = (await read(folderOf(changed(models.bert, { hidden_act: theirs })))).model;
    assert.equal(layers.find(({ id }) => id === 'b1.wide')?.['activation'], ours);
  }
});

test('names of classes that are not one an output are said to be left out', async () => {
  for (const id2label of [
    { 0: 'same', 1: 'same', 2: 'odd' },
    { 0: 'dull', 2: 'odd' },
  ]) {
    const files = folderOf(changed(models['bert'], { id2label }));
    const net = await read(files);
    assert.deepEqual(net.output.kind === 'classes' && net.output.classes, ['0', '1', '2']);
    assert.match(net.said.join(), /each of the 3 outputs a name of its own: they are called 0 to 2/);
    assert.deepEqual((await read(files, { classes: ['a', 'b', 'c'] })).said, []);
  }
});

test('a body has no output layer; a table of tokens may have more rows than there are tokens', async () => {
  const net = await read(folderOf(models.minilm));
  assert.deepEqual([net.head, net.title], [false, 'BERT of 2 blocks of 16']);
  assert.ok('pooler.weight' in net.weights && !Object.keys(net.weights).some((name) => name.startsWith('output.')));
  const { vocabulary, exact } = textOf(net);
  assert.equal(exact, true, 'to transformers no word is a missing text');
  assert.equal(vocabulary, models.minilm.tensors['embeddings.word_embeddings.weight'][0]);
});

test('the settings beside a tokenizer count more than tokenizer.json: case, spaces, added tokens, where a text is cut', async () => {
  const readBy = async (model: GoldenText, settings: object, added = {}): Promise<[Int32Array, Pretrained]> => {
    const beside = { 'tokenizer_config.json': JSON.stringify(settings), 'added_tokens.json': JSON.stringify(added) };
    const net = await read({ ...folderOf(model), ...beside });
    return [tokenizerOf(textOf(net).tokenizer).encode('the yard The <x> yard'), net];
  };
  const [[lower], [cased], [plain], [spaced]] = await Promise.all([
    readBy(models.bert, {}),
    readBy(models.bert, { do_lower_case: false }),
    readBy(models.gpt2, {}),
    readBy(models.gpt2, { add_prefix_space: true }),
  ]);
  assert.equal(lower[3], lower[1], 'The');
  assert.notEqual(cased[3], cased[1]);
  assert.notEqual(spaced[0], plain[0]);
  assert.deepEqual(
    (await readBy(models.bert, { tokenizer_class: 'TokenizersBackend', do_lower_case: false }))[0],
    lower,
  );
  // Its table has three rows more than there are tokens.
  const id = models.minilm.tensors['embeddings.word_embeddings.weight'][0] - 1;
  assert.ok((await readBy(models.minilm, {}, { '<x>': id }))[0].includes(id));
  const told = { content: '<x>', normalized: false };
  const [ids, cut] = await readBy(models.minilm, {
    added_tokens_decoder: { [id]: told },
    model_max_length: 9,
  });
  assert.ok(ids.includes(id));
  assert.equal(cut.input.kind === 'table' && cut.input.texts?.[0].length, 9);
});

test('old names of norms, half precision and fewer tokens a text are read', async () => {
  const tensors = Object.entries(textTensorsOf(models.bert)).map(([name, tensor]) => [
    name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta'),
    tensor,
  ]);
  const file = encodeSafetensors({ tensors: Object.fromEntries(tensors), metadata: {} });
  const net = await read({ ...folderOf(models.bert), 'model.safetensors': file }, { length: 7 });
  assert.equal(net.input.kind === 'table' && net.input.texts?.[0].length, 7);
  const whole = await read(folderOf(models.bert));
  assert.deepEqual(net.weights, whole.weights);
});

test('what is not read is named: architectures, positions, activations, many classes or values a text', async () => {
  const { bert, gpt2 } = models;
  const cases: readonly (readonly [GoldenText, RegExp])[] = [
    [changed(bert, { model_type: 't5', architectures: ['T5Model'] }), /architecture t5 \(T5Model\) is not read/],
    [changed(bert, { model_type: undefined }), /architecture without a model_type \(BertFor/],
    [changed(bert, { position_embedding_type: 'relative_key' }), /Positions of the kind “relative_key”/],
    [changed(bert, { is_decoder: true }), /A decoder \(is_decoder\)/],
    [changed(bert, { hidden_act: 'quick_gelu' }), /The activation “quick_gelu” is not read/],
    [changed(gpt2, { scale_attn_by_inverse_layer_idx: true }), /attention is scaled otherwise/],
    [changed(bert, { problem_type: 'multi_label_classification' }), /any number of classes at once/],
    [changed(bert, { problem_type: 'regression' }), /measures 3 values of a text/],
  ];
  for (const [model, message] of cases) await refused(read(folderOf(model)), 'input.architecture', message);
});

test('a damaged config, missing tensors and a tokenizer that does not fit are named', async () => {
  const { bert, gpt2 } = models;
  const files = folderOf(bert);
  await refused(read({ ...files, 'config.json': '{' }), 'input.config', /config\.json is no JSON object/);
  await refused(read(folderOf(changed(bert, { hidden_size: '16' }))), 'input.config', /hidden_size: /);
  await refused(
    read(folderOf(changed(bert, { intermediate_size: 20 }))),
    'input.weights',
    /encoder\.layer\.0\.intermediate\.dense\.weight is \[24, 16\], the model needs \[20, 16\]/,
  );
  await refused(
    read(folderOf(changed(bert, { num_hidden_layers: 3 }))),
    'input.weights',
    /encoder\.layer\.2\.attention\.self\.query\.weight is missing, the model needs \[16, 16\]; .* and \d+ more/,
  );
  const other = { ...files, 'tokenizer.json': folderOf(gpt2)['tokenizer.json'] };
  await refused(
    read(other),
    'input.tokenizer',
    /it makes \d+ tokens, and .*word_embeddings\.weight of model\.safetensors has 1\d\d rows/,
  );
  const flat = { ...bert, tensors: { ...bert.tensors, 'bert.embeddings.word_embeddings.weight': [3] } };
  await refused(read(folderOf(flat)), 'input.weights', /word_embeddings\.weight is \[3\], the model needs \[\d+, 16\]/);
  await refused(read(folderOf(changed(bert, { num_hidden_layers: 100_000 }))), 'input.config', /num_hidden_layers: /);
  for (const pad of [-5, 500]) {
    const named = new RegExp(`with pad_token_id ${pad} its \\d+ positions leave none`);
    await refused(read(folderOf(changed(models.roberta, { pad_token_id: pad }))), 'input.config', named);
  }
  const beside = { ...files, 'tokenizer_config.json': 'null' };
  await refused(read(beside), 'input.tokenizer', /The file tokenizer_config\.json cannot be read: /);
  const [open, close] = ['{"type":"Sequence","normalizers":[', ']}'];
  const nested = `${open.repeat(20_000)}{"type":"Lowercase"}${close.repeat(20_000)}`;
  const tokenizer = JSON.stringify({ ...(goldenTexts.tokenizers[bert.tokenizer] as object), normalizer: null });
  const deep = tokenizer.replace('"normalizer":null', `"normalizer":${nested}`);
  await refused(read({ ...files, 'tokenizer.json': deep }), 'input.tokenizer', /nested too deep/);
  const { 'tokenizer.json': _, ...without } = files;
  await refused(read(without), 'input.tokenizer', /There is no tokenizer here/);
});
