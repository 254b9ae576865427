// Text from a language model, token by token: whole characters alone are shown, and none is decoded again for each token behind it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { trainTokenizer } from '../../engine/text/tokenizers.ts';
import type { Tokenizer } from '../../engine/text/tokenizer.ts';
import { generate } from '../../engine/train/generate.ts';

test('a long text is written in whole characters, each token decoded a few times at most', async () => {
  const text = 'Zoë 😀 — “naïve”. '.repeat(40);
  // So few tokens that each byte beyond ASCII is one of its own.
  const bytes = trainTokenizer(['plain'], { kind: 'bytes', vocabulary: 257 });
  const ids = bytes.encode(text, { plain: true });
  assert.ok(ids.length > text.length);
  let decoded = 0;
  const counting: Tokenizer = {
    kind: bytes.kind,
    vocabulary: bytes.vocabulary,
    special: bytes.special,
    encode: (...of) => bytes.encode(...of),
    tokens: (of) => bytes.tokens(of),
    toJSON: () => bytes.toJSON(),
    decode: (of) => {
      decoded += of.length;
      return bytes.decode(of);
    },
  };
  let drawn = 0;
  const following = async (): Promise<Float32Array> => {
    const logits = new Float32Array(bytes.vocabulary);
    logits[ids[drawn++]] = 1;
    return logits;
  };
  const options = { prompt: 'Before', tokens: ids.length, temperature: 0, topP: 1, seed: 1 };
  const pieces: string[] = [];
  for await (const piece of generate(following, { tokenizer: counting, length: 8 }, options)) pieces.push(piece);
  assert.equal(pieces.join(''), text);
  assert.ok(pieces.every((piece) => !piece.includes('\uFFFD')));
  assert.ok(decoded < 4 * ids.length, `${decoded} ids were decoded to write ${ids.length}`);
});
