// White space that a tokenizer.json takes away in front of a token or at the ends of a text: many spaces elsewhere take no more time than their number.

import assert from 'node:assert/strict';
import test from 'node:test';
import { tokenizerOf } from '../../../engine/text/tokenizers.ts';

const many = 60_000;
const vocab = { '[UNK]': 0, a: 1, b: 2, '<mask>': 3, '  ': 4 };

const tokenizer = (parts: object) =>
  tokenizerOf({
    model: { type: 'WordPiece', vocab, unk_token: '[UNK]' },
    pre_tokenizer: { type: 'WhitespaceSplit' },
    ...parts,
  });

/** Ids, and milliseconds they took. */
function timed(parts: object, text: string): readonly [ids: readonly number[], milliseconds: number] {
  const made = tokenizer(parts);
  const start = performance.now();
  const ids = [...made.encode(text)];
  return [ids, performance.now() - start];
}

const spaces = ' \u00a0\u0085\n'.repeat(many / 4);

test('spaces in front of a token that takes those before it, and other spaces before them', () => {
  const added_tokens = [{ id: 3, content: '<mask>', lstrip: true, normalized: false }];
  const [ids, milliseconds] = timed({ added_tokens }, `${spaces}a${spaces}<mask> b${spaces}a`);
  assert.deepEqual(ids, [1, 3, 2, 1]);
  assert.ok(milliseconds < 1000, `${milliseconds} ms`);
});

test('a token of spaces that takes those before it', () => {
  const added_tokens = [{ id: 4, content: '  ', lstrip: true, normalized: false }];
  const [ids, milliseconds] = timed({ added_tokens }, `a${' '.repeat(many)}b`);
  assert.deepEqual(ids, [1, ...Array<number>(many / 2).fill(4), 2]);
  assert.ok(milliseconds < 1000, `${milliseconds} ms`);
});

test('spaces that are stripped from the ends of a text, and others within it', () => {
  const normalizer = { type: 'Strip', strip_left: true, strip_right: true };
  const pre_tokenizer = { type: 'Split', pattern: { String: 'a' }, behavior: 'Removed' };
  const [ids, milliseconds] = timed({ normalizer, pre_tokenizer }, `${spaces}a${spaces}a${spaces}`);
  assert.deepEqual(ids, [0], 'the spaces within stay');
  assert.ok(milliseconds < 1000, `${milliseconds} ms`);
  for (const [left, right, expected] of [
    [true, false, [0]],
    [false, true, [0]],
    [false, false, [0, 0]],
  ] as const) {
    const only = { type: 'Strip', strip_left: left, strip_right: right };
    assert.deepEqual([...tokenizer({ normalizer: only, pre_tokenizer }).encode(' a ')], expected);
  }
});
