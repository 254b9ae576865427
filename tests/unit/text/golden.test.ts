// Ids equal to those of Hugging Face's tokenizers: fixtures of tests/golden/make_tokenizers.py, or a wide random comparison by the same script.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { tokenizerOf } from '../../../engine/text/tokenizers.ts';

interface Golden {
  readonly texts: readonly string[];
  readonly cases: Readonly<
    Record<
      string,
      {
        readonly tokenizer: unknown;
        readonly ids: readonly (readonly number[])[];
        readonly plain: readonly (readonly number[])[];
        readonly decoded: readonly string[];
      }
    >
  >;
}

const file = process.env['TRAINYARD_TOKENIZERS'] ?? path.join(import.meta.dirname, '../../golden/tokenizers.json');
const { texts, cases } = JSON.parse(fs.readFileSync(file, 'utf8')) as Golden;

for (const [name, { tokenizer: json, ids, plain, decoded }] of Object.entries(cases)) {
  const tokenizer = tokenizerOf(json);

  test(`${name}: the ids of ${texts.length} texts`, () => {
    const wrong = texts.flatMap((text, i) => (same(tokenizer.encode(text), ids[i]) ? [] : [{ text, i }]));
    const [first] = wrong;
    const told = first && { text: first.text, here: [...tokenizer.encode(first.text)], there: ids[first.i] };
    assert.equal(wrong.length, 0, JSON.stringify(told));
  });

  test(`${name}: without the tokens round a text, cut short, and one by one`, () => {
    plain.forEach((expected, i) => {
      assert.deepEqual([...tokenizer.encode(texts[i], { plain: true })], expected);
      assert.deepEqual([...tokenizer.encode(texts[i], { plain: true, most: 5 })], expected.slice(0, 5));
      const tokens = tokenizer.tokens(texts[i]);
      assert.deepEqual(
        tokens.map(({ id }) => id),
        ids[i],
      );
      assert.ok(tokens.every(({ start, end }) => start >= 0 && end >= start && end <= texts[i].length));
    });
  });

  test(`${name}: the text of ids`, () => {
    decoded.forEach((expected, i) => assert.equal(tokenizer.decode(ids[i]), expected, JSON.stringify(texts[i])));
  });
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
