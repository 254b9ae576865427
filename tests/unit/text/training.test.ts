// Tokenizers trained here: merges are those of the tokenizers package, texts are read back, memory does not grow with a text without spaces;
// and tokenizers from the files of a folder.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { tokenizerFromFiles, tokenizerOf, trainTokenizer } from '../../../engine/text/tokenizers.ts';

interface Kept {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly (readonly string[])[] };
}
interface Case {
  readonly tokenizer: Kept;
  readonly ids: readonly (readonly number[])[];
}
const golden = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, '../../golden/tokenizers.json'), 'utf8')) as {
  readonly corpus: readonly string[];
  readonly texts: readonly string[];
  readonly cases: Readonly<Record<string, Case>>;
};
const { corpus, texts, cases } = golden;

test('byte pairs learnt from a corpus are those the tokenizers package learns', () => {
  const trained = trainTokenizer(corpus, { kind: 'bytes', vocabulary: 420 }).toJSON() as Kept;
  const { model } = cases['gpt2'].tokenizer;
  assert.deepEqual(trained.model.merges, model.merges);
  assert.deepEqual(trained.model.vocab, model.vocab);
});

test('byte pairs read every text back as it was', () => {
  const tokenizer = trainTokenizer(corpus, { kind: 'bytes', vocabulary: 300 });
  assert.equal(tokenizer.vocabulary, 300);
  for (const text of texts) {
    assert.equal(tokenizer.decode(tokenizer.encode(text)), text.replaceAll('<|endoftext|>', ''));
  }
});

test('tokens stand where they are in the text, and bytes that are no letter are shown as such', () => {
  const text = 'It’s 😀!';
  const tokens = trainTokenizer(['abc'], { kind: 'bytes', vocabulary: 257 }).tokens(text);
  const seen = tokens.map(({ text: shown, start, end }) => [shown, text.slice(start, end)]);
  assert.deepEqual(seen, [
    ...['I', 't'].map((letter) => [letter, letter]),
    ...['<E2>', '<80>', '<99>'].map((byte) => [byte, '’']),
    ...['s', ' '].map((letter) => [letter, letter]),
    ...['<F0>', '<9F>', '<98>', '<80>'].map((byte) => [byte, '😀']),
    ['!', '!'],
  ]);
});

test('WordPiece learns the words that come most, and stands [CLS] and [SEP] round a text', () => {
  const tokenizer = trainTokenizer(corpus, { kind: 'wordpiece', vocabulary: 300 });
  const text = 'The Weather — naïve!';
  const tokens = tokenizer.tokens(text);
  assert.deepEqual([tokens[0].text, tokens.at(-1)!.text], ['[CLS]', '[SEP]']);
  const the = tokens.find(({ text: shown }) => shown === 'the')!;
  assert.equal(text.slice(the.start, the.end), 'The');
  assert.deepEqual(
    [...tokenizer.encode(text)],
    tokens.map(({ id }) => id),
  );
  assert.ok(
    tokens.some(({ id }) => id === tokenizer.special.unknown),
    'a dash it has not seen',
  );
  const again = tokenizerOf(JSON.parse(JSON.stringify(tokenizer)));
  for (const other of texts) assert.deepEqual(again.encode(other), tokenizer.encode(other));
  const cased = trainTokenizer(['Ab ab'], { kind: 'wordpiece', vocabulary: 100, lowerCase: false });
  assert.notDeepEqual(cased.encode('Ab'), cased.encode('ab'));
});

test('a long text without spaces is learnt from, cut and read back', () => {
  const text = 'ab'.repeat(500_000);
  const tokenizer = trainTokenizer([text], { kind: 'bytes', vocabulary: 300 });
  const ids = tokenizer.encode(text);
  assert.ok(ids.length < text.length / 16);
  assert.equal(tokenizer.decode(ids), text);
});

test('the first tokens of a long text are those of the whole', () => {
  const tokenizer = tokenizerOf(cases['bert_uncased'].tokenizer);
  const text = texts.join(' ').repeat(20);
  const whole = tokenizer.encode(text, { plain: true });
  for (const most of [0, 1, 2, 3, 17, 64, 700, whole.length + 9]) {
    assert.deepEqual(tokenizer.encode(text, { plain: true, most }), whole.slice(0, most));
  }
  const framed = tokenizer.encode(text, { most: 10 });
  const { begin, end } = tokenizer.special;
  assert.deepEqual([...framed], [begin, ...whole.slice(0, 8), end]);
});

test('vocab.txt, and vocab.json with merges.txt, make the tokenizer that tokenizer.json describes', () => {
  const inOrder = (vocab: Kept['model']['vocab']): string =>
    Object.entries(vocab)
      .toSorted(([, a], [, b]) => a - b)
      .map(([token]) => `${token}\n`)
      .join('');
  const config = (lower: boolean): string => JSON.stringify({ do_lower_case: lower, unk_token: { content: '[UNK]' } });
  const merged = ({ model }: Kept): { 'vocab.json': string; 'merges.txt': string } => ({
    'vocab.json': JSON.stringify(model.vocab),
    'merges.txt': `#version: 0.2\n${model.merges.map((pair) => pair.join(' ')).join('\n')}\n`,
  });
  const made = {
    bert_uncased: tokenizerFromFiles({ 'vocab.txt': inOrder(cases['bert_uncased'].tokenizer.model.vocab) }),
    bert_cased: tokenizerFromFiles({
      'vocab.txt': inOrder(cases['bert_cased'].tokenizer.model.vocab),
      'tokenizer_config.json': config(false),
    }),
    gpt2: tokenizerFromFiles(merged(cases['gpt2'].tokenizer)),
    roberta: tokenizerFromFiles(merged(cases['roberta'].tokenizer)),
    letters: tokenizerFromFiles({ 'tokenizer.json': JSON.stringify(cases['letters'].tokenizer) }),
  };
  for (const [name, tokenizer] of Object.entries(made)) {
    texts.forEach((text, i) => {
      // The mask of RoBERTa was added to its vocabulary, and is not in vocab.json.
      if (name === 'roberta' && text.includes('<mask>')) return;
      assert.deepEqual([...tokenizer.encode(text)], [...cases[name].ids[i]], `${name}: ${JSON.stringify(text)}`);
    });
  }
});

test('empty lines at the end of vocab.txt are no tokens', () => {
  const lines = '[UNK]\n[CLS]\n[SEP]\n\na';
  for (const end of ['', '\n', '\r\n', '\n\n', '\r\n\r\n\n']) {
    const tokenizer = tokenizerFromFiles({ 'vocab.txt': lines + end });
    assert.equal(tokenizer.vocabulary, 5, JSON.stringify(end));
    assert.deepEqual([...tokenizer.encode('a')], [1, 4, 2]);
  }
});

test('files that are none, or do not belong together, are refused by what is wrong with them', () => {
  const { tokenizer } = cases['bert_uncased'];
  const changed = (part: object): unknown => ({ ...tokenizer, ...part });
  assert.throws(() => tokenizerOf(changed({ model: { type: 'Unigram' } })), /model “Unigram” .* not supported/);
  assert.throws(() => tokenizerOf(changed({ normalizer: { type: 'Nmt' } })), /normalizer “Nmt”/);
  assert.throws(() => tokenizerOf(changed({ pre_tokenizer: { type: 'Metaspace' } })), /pre-tokenizer “Metaspace”/);
  const split = { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated' };
  assert.throws(() => tokenizerOf(changed({ pre_tokenizer: split })), /regular expression “\(”/);
  const model = { type: 'WordPiece', vocab: { a: 0 } };
  assert.throws(() => tokenizerOf(changed({ model })), /lacks the unknown token “\[UNK\]”/);
  const small = { type: 'WordPiece', vocab: { a: 0, '[UNK]': 1 } };
  assert.throws(() => tokenizerOf(changed({ model: small, added_tokens: [] })), /token 2 round every text/);
  assert.throws(() => tokenizerFromFiles({}), /no tokenizer here/);
  assert.throws(() => tokenizerFromFiles({ 'tokenizer.json': '{' }), /tokenizer\.json is no JSON/);
  assert.throws(() => tokenizerFromFiles({ 'vocab.txt': 'a\nb\n' }), /special token “\[CLS\]”/);
  assert.throws(() => tokenizerFromFiles({ 'vocab.json': '{"a":0}', 'merges.txt': 'a b\n' }), /merge 1, “b”/);
  assert.throws(() => tokenizerFromFiles({ 'vocab.json': '{"a":0}', 'merges.txt': 'a b c\n' }), /Line 1/);
});

test('special tokens and separators may have hyphens', () => {
  const json = structuredClone(cases['gpt2'].tokenizer) as unknown as {
    added_tokens: object[];
    pre_tokenizer: unknown;
  };
  const id = trainTokenizer(corpus, { kind: 'bytes', vocabulary: 420 }).vocabulary;
  json.added_tokens.push({ id, content: '<|end-of-text|>', normalized: false, special: true });
  const byHyphens = { type: 'Split', pattern: { String: '-' }, behavior: 'Removed', invert: false };
  json.pre_tokenizer = { type: 'Sequence', pretokenizers: [byHyphens, bytesAlone] };
  const tokenizer = tokenizerOf(json);
  assert.deepEqual([...tokenizer.encode('<|end-of-text|>')], [id]);
  assert.equal(tokenizer.decode(tokenizer.encode('a-b')), 'ab');
});

const bytesAlone = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
