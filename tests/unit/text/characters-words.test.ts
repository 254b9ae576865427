// Characters and words as tokens: what becomes of texts of every kind, and that what is kept is made again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { tokenizerOf, trainTokenizer } from '../../../engine/text/tokenizers.ts';
import { Counts } from '../../../engine/text/counts.ts';

const again = (json: unknown): unknown => JSON.parse(JSON.stringify(json));

test('characters are code points in the order of their numbers, the unknown one in front', () => {
  const tokenizer = trainTokenizer(['ba', 'c😀é'], { kind: 'characters', vocabulary: 100 });
  assert.equal(tokenizer.vocabulary, 6);
  assert.deepEqual([...tokenizer.encode('abc é😀?')], [1, 2, 3, 0, 4, 5, 0]);
  assert.equal(tokenizer.decode([5, 4, 1, 0]), '😀éa\uFFFD');
  assert.deepEqual(tokenizer.tokens('😀a'), [
    { id: 5, text: '😀', start: 0, end: 2 },
    { id: 1, text: 'a', start: 2, end: 3 },
  ]);
  assert.deepEqual([...tokenizer.encode('abcabc', { most: 2 })], [1, 2]);
  assert.equal(tokenizer.encode('').length, 0);
  const kept = tokenizerOf(again(tokenizer));
  assert.deepEqual([...kept.encode('abc é😀?')], [1, 2, 3, 0, 4, 5, 0]);
});

test('of too many characters those seen most are kept', () => {
  const tokenizer = trainTokenizer(['aaabbc'], { kind: 'characters', vocabulary: 3 });
  assert.deepEqual([...tokenizer.encode('abc')], [1, 2, 0]);
});

test('half a surrogate pair counts as the replacement character', () => {
  const tokenizer = trainTokenizer(['a\uD83D'], { kind: 'characters', vocabulary: 10 });
  assert.deepEqual([...tokenizer.encode('\uDE00a\uFFFD')], [2, 1, 2]);
  assert.equal(tokenizer.decode([2]), '\uFFFD');
});

test('words are letters, marks and digits of any script in lower case, first those of most texts', () => {
  const texts = ['The cat, the dog; 42!', 'the Straße — हिन्दी', 'STRASSE straße'];
  const tokenizer = trainTokenizer(texts, { kind: 'words', vocabulary: 100 });
  const seen = tokenizer.tokens(texts.join(' ')).map(({ text }) => text);
  assert.deepEqual(seen, ['the', 'cat', 'the', 'dog', '42', 'the', 'straße', 'हिन्दी', 'strasse', 'straße']);
  assert.equal(tokenizer.decode([1, 2]), 'straße the', 'both are in two texts');
  assert.deepEqual([...tokenizer.encode('…THE bird')], [2, 0]);
  assert.deepEqual([...tokenizer.encode('cafe\u0301')], [...tokenizer.encode('café')]);
  assert.equal(tokenizer.encode('?! \u0000\uD800').length, 0);
  assert.deepEqual([...tokenizerOf(again(tokenizer)).encode('dog')], [...tokenizer.encode('dog')]);
});

test('counting forgets the rarest when there are too many, and no more than it has to', () => {
  const counts = new Counts(100);
  for (let round = 0; round < 5; round++) for (let i = 0; i < 20; i++) counts.add(`often${i}`);
  for (let i = 0; i < 1_000; i++) counts.add(`once${i}`);
  const kept = counts.entries();
  assert.ok(kept.length <= 100 && kept.length >= 75);
  assert.deepEqual(kept.filter(([, times]) => times === 5).length, 20);
});

test('what is no tokenizer is refused, and says what is wrong', () => {
  assert.throws(() => tokenizerOf({ kind: 'words', words: [1] }), /at “words\.0”/);
  assert.throws(() => tokenizerOf('x'), /no tokenizer/);
});
