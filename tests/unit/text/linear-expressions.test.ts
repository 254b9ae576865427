// Foreign regular expressions: those of known tokenizers are taken, those that V8 could try without end are refused, and what is taken needs
// no more than twice the time for twice the text.

import assert from 'node:assert/strict';
import test from 'node:test';
import { foreignExpression } from '../../../engine/text/foreign-expressions.ts';
import { takesLinearTime } from '../../../engine/text/linear-expressions.ts';
import { tokenizerOf } from '../../../engine/text/tokenizers.ts';

const spaces = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const short = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`;
const [large, small] = [String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`];
const before = String.raw`[^\r\n\p{L}\p{N}]?`;
const known: Readonly<Record<string, string>> = {
  'GPT-2': String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  CLIP: String.raw`<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+`,
  'Llama 3': String.raw`${short}|${before}\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${spaces}`,
  'Qwen 2': String.raw`${short}|${before}\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${spaces}`,
  o200k: String.raw`${before}${large}*${small}+${short}?|${before}${large}+${small}*${short}?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${spaces}`,
  DeepSeek: String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|${spaces}`,
  words: String.raw`\s?\p{L}+`,
  digits: '[0-9][0-9][0-9]',
  Han: '[一-龥぀-ゟ゠-ヿ]+',
};

const tokenizerWith = (Regex: string): object => ({
  ...{ normalizer: null, post_processor: null, added_tokens: [] },
  model: { type: 'BPE', vocab: { a: 0, b: 1, ' ': 2, '\n': 3, '<unk>': 4 }, merges: [], unk_token: '<unk>' },
  pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false },
});

/** Milliseconds of processor time to cut these texts: short runs, long runs of one sign, and of two in turn. */
function timeOf(found: RegExp, signs: number): number {
  const texts = [' ', 'a', 'A', '1', '.', '\n', '字', "'"].flatMap((sign) => {
    const run = sign.repeat(signs);
    return [run, `${run}x`, `${run}b\n`, `${sign} `.repeat(signs / 2)];
  });
  const start = process.cpuUsage();
  for (const text of texts) for (const _ of text.matchAll(found)) continue;
  return process.cpuUsage(start).user / 1000;
}

for (const [name, source] of Object.entries(known)) {
  test(`the expression of ${name} is taken, and runs of a hundred thousand signs are cut in no time`, () => {
    assert.ok(takesLinearTime(source));
    tokenizerOf(tokenizerWith(source)).encode('a b\n');
    const took = timeOf(new RegExp(source, 'gu'), 100_000);
    assert.ok(took < 3000, `${took} ms`);
  });
}

for (const source of [
  '(a+)+b',
  '(a|a)*b',
  '(?:a|aa)+$',
  String.raw`(\w+\s?)*$`,
  String.raw`\s+\s+b|\s+`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s*[\r\n]+|.|\s+`,
  'a+b',
  '[^]*[^]*[^]*!',
  `${'a?'.repeat(30)}${'a'.repeat(30)}`,
  `(?:${'a?'.repeat(30)}b)`,
  'a{0,1000}b',
  String.raw`(a+)\1`,
  'a+?b|a+',
  `${'('.repeat(4000)}a${')'.repeat(4000)}`,
]) {
  test(`“${source.slice(0, 20)}” is refused by what it could do`, () => {
    assert.equal(takesLinearTime(source), false);
    assert.throws(() => tokenizerOf(tokenizerWith(source)), {
      code: 'input.tokenizer',
      message: /could take without end/,
    });
  });
}

for (const source of [
  '^a',
  'b$',
  String.raw`\bab`,
  String.raw`\B`,
  String.raw`\w+`,
  String.raw`[^\W]+`,
  '[[a-c]d]',
  '[a-z&&[^b]]+',
]) {
  test(`“${source}” finds something else in Oniguruma, and is refused`, () => {
    assert.throws(() => tokenizerOf(tokenizerWith(source)), {
      code: 'input.tokenizer',
      message: `The regular expression “${source}” of this tokenizer is not supported.`,
    });
  });
}

test('a dot is any sign but a new line, in a class a dot', () => {
  // As tokenizers 0.23 has it.
  const places = (Regex: string, text: string) => foreignExpression(Regex).exec(text)?.[0] ?? null;
  assert.deepEqual(
    ['a\rb', 'a\u2028b', 'a\nb'].map((text) => places('a.b', text)),
    ['a\rb', 'a\u2028b', null],
  );
  assert.equal(places(String.raw`[.$^\d]+`, 'x.$^١'), '.$^١');
});
