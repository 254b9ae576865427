// Normalizers of a tokenizer.json: what is done to a text before it is cut. Each kind is a schema and a function from text to text.

import { z } from 'zod';
import { classes, normalForm, spaceEnd, spaceStart } from './unicode.ts';
import { kindOf, savedAs, unsupported } from './saved.ts';

export type Normalizer = (text: string) => string;

const kinds = {
  BertNormalizer: z.object({
    clean_text: z.boolean().default(true),
    handle_chinese_chars: z.boolean().default(true),
    strip_accents: z.boolean().nullable().default(null),
    lowercase: z.boolean().default(true),
  }),
  Strip: z.object({ strip_left: z.boolean(), strip_right: z.boolean() }),
  Replace: z.object({ pattern: z.object({ String: z.string() }), content: z.string() }),
  Prepend: z.object({ prepend: z.string() }),
  Sequence: z.object({ normalizers: z.array(z.unknown()) }),
} as const;

/** The function that a normalizer of a tokenizer.json stands for; null: none. Throws InputError where it is not supported. */
export function normalizerOf(json: unknown): Normalizer {
  if (json === null || json === undefined) return (text) => text;
  const as = <T>(schema: z.ZodType<T>): T => savedAs(schema, json, 'normalizer');
  const kind = kindOf(json, 'normalizer');
  switch (kind) {
    case 'BertNormalizer':
      return bert(as(kinds.BertNormalizer));
    case 'Lowercase':
      return lowerCase;
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD':
      return (text) => normalForm(text, kind);
    case 'StripAccents':
      return (text) => text.replace(mark, '');
    case 'Strip':
      return strip(as(kinds.Strip));
    case 'Replace': {
      const { pattern, content } = as(kinds.Replace);
      return (text) => text.replaceAll(pattern.String, () => content);
    }
    case 'Prepend': {
      const { prepend } = as(kinds.Prepend);
      return (text) => (text === '' ? text : prepend + text);
    }
    case 'Sequence': {
      const all = as(kinds.Sequence).normalizers.map(normalizerOf);
      return (text) => all.reduce((done, normalizer) => normalizer(done), text);
    }
    default:
      throw unsupported('normalizer', kind);
  }
}

const mark = new RegExp(classes.mark, 'gv');
const removed = new RegExp(String.raw`[${classes.control}\0\ufffd]`, 'gv');
const space = new RegExp(`[${classes.space}]`, 'gv');
const nonspacing = new RegExp(classes.nonspacing, 'gv');
const chinese =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gv;
/** Texts on which nothing but lower case has an effect. */
const plain = /^[ -~]*$/;

/** BERT's basic tokenization up to punctuation: control characters, CJK, accents, case. */
function bert(options: z.infer<typeof kinds.BertNormalizer>): Normalizer {
  const { clean_text: clean, handle_chinese_chars: spaced, strip_accents: strips, lowercase } = options;
  return (text) => {
    let done = text;
    if (!plain.test(text)) {
      if (clean) done = done.replace(removed, '').replace(space, ' ');
      if (spaced) done = done.replace(chinese, ' $& ');
      if (strips ?? lowercase) done = normalForm(done, 'NFD').replace(nonspacing, '');
    }
    return lowercase ? lowerCase(done) : done;
  };
}

/** Character by character: what stands beside a sigma does not matter. */
const lowerCase = (text: string): string =>
  text.includes('\u03a3')
    ? text
        .split('\u03a3')
        .map((part) => part.toLowerCase())
        .join('\u03c3')
    : text.toLowerCase();

function strip({ strip_left: left, strip_right: right }: z.infer<typeof kinds.Strip>): Normalizer {
  return (text) => {
    const done = right ? text.slice(0, spaceStart(text, text.length)) : text;
    return left ? done.slice(spaceEnd(done, 0)) : done;
  };
}
