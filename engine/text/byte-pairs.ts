// Byte-pair encoding: of a piece's characters (which stand for bytes in byte-level tokenizers) the pair that was merged first in
// training is merged, again and again, until no pair of neighbours is a merge.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { mergedSymbols, PairRanks, type Merges } from './merging.ts';
import type { Model } from './model.ts';
import { savedAs, unsupported } from './saved.ts';
import { bytesOfWritten, utf8Bytes, utf8Text } from './utf8.ts';
import { vocabularyOf, vocabularySchema, type Vocabulary } from './vocabulary.ts';

const schema = z.object({
  type: z.literal('BPE').optional(),
  vocab: vocabularySchema,
  merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  unk_token: z.string().nullish(),
  continuing_subword_prefix: z.string().nullish(),
  end_of_word_suffix: z.string().nullish(),
  dropout: z.number().nullish(),
  fuse_unk: z.boolean().nullish(),
  byte_fallback: z.boolean().nullish(),
  ignore_merges: z.boolean().nullish(),
});

/** Made of the `model` of a tokenizer.json. `inBytes`: pieces are written in bytes. Throws InputError where it is none. */
export function bytePairs(json: unknown, inBytes: boolean): Model {
  const model = savedAs(schema, json);
  if (model.dropout) throw unsupported('dropout', String(model.dropout));
  const vocabulary = vocabularyOf(model.vocab);
  const prefix = model.continuing_subword_prefix ?? '';
  const suffix = model.end_of_word_suffix ?? '';
  const merges = mergesOf(model.merges, vocabulary, prefix);
  const unknown = model.unk_token ? vocabulary.idOf(model.unk_token, 'the unknown token') : undefined;
  const symbols = {
    vocabulary,
    prefix,
    suffix,
    unknown,
    fuse: model.fuse_unk === true,
    bytes: model.byte_fallback === true,
    plain: prefix === '' && suffix === '' ? plainIds(vocabulary) : new Int32Array(0),
  };
  return {
    kind: 'bytes',
    vocabulary,
    unknown,
    ids(piece) {
      const whole = model.ignore_merges ? vocabulary.ids.get(piece) : undefined;
      return whole === undefined ? mergedSymbols(symbolsOf(piece, symbols), merges) : [whole];
    },
    lengthOf: (id) => (id === unknown ? 1 : (vocabulary.tokens[id] ?? '').length),
    text(tokens) {
      if (inBytes) return utf8Text(tokens.flatMap(bytesOfWritten));
      const joined = tokens.join('');
      return suffix ? joined.replaceAll(suffix, ' ').trimEnd() : joined;
    },
    shown: (token) => (inBytes ? shownBytes(bytesOfWritten(token)) : token),
  };
}

function mergesOf(
  pairs: readonly (string | readonly [string, string])[],
  vocabulary: Vocabulary,
  prefix: string,
): Merges {
  const ranks = new PairRanks(pairs.length);
  const made = new Int32Array(pairs.length);
  pairs.forEach((pair, rank) => {
    const [left, right, ...more] = typeof pair === 'string' ? pair.split(' ') : pair;
    if (right === undefined || more.length > 0) {
      throw new InputError('input.tokenizer', `Merge ${rank + 1} of the tokenizer is no pair: “${String(pair)}”.`);
    }
    const of = (token: string): number => vocabulary.idOf(token, `a token of merge ${rank + 1},`);
    ranks.set(of(left), of(right), rank);
    made[rank] = of(left + (prefix && right.startsWith(prefix) ? right.slice(prefix.length) : right));
  });
  return { ranks, made };
}

interface Symbols {
  readonly vocabulary: Vocabulary;
  readonly prefix: string;
  readonly suffix: string;
  readonly unknown: number | undefined;
  /** Unknown characters beside each other are one token. */
  readonly fuse: boolean;
  /** Ids of the characters that bytes are written as, by their code; -1: the vocabulary lacks it. Empty where what stands around a character counts. */
  readonly plain: Int32Array;
  /** Unknown characters are written as `<0x41>`, byte by byte, where the vocabulary has all of them. */
  readonly bytes: boolean;
}

/** Characters that bytes are written as have codes below it. */
const plainCodes = 0x180;

const plainIds = ({ ids }: Vocabulary): Int32Array =>
  Int32Array.from({ length: plainCodes }, (_, code) => ids.get(String.fromCharCode(code)) ?? -1);

/** Ids of the characters of a piece that are all plain and known; null where one is not. */
function plainSymbols(piece: string, plain: Int32Array): number[] | null {
  const ids: number[] = [];
  for (let i = 0; i < piece.length; i++) {
    const id = plain[piece.charCodeAt(i)] ?? -1;
    if (id < 0) return null;
    ids.push(id);
  }
  return ids;
}

/** Ids of the characters of a piece. What the vocabulary lacks is dropped where there is no unknown token. */
function symbolsOf(piece: string, { vocabulary, prefix, suffix, unknown, fuse, bytes, plain }: Symbols): number[] {
  const known = plainSymbols(piece, plain);
  if (known) return known;
  const ids: number[] = [];
  let wasUnknown = false;
  const characters = [...piece];
  characters.forEach((character, place) => {
    const name = (place > 0 ? prefix : '') + character + (place === characters.length - 1 ? suffix : '');
    const id = vocabulary.ids.get(name);
    const written = id === undefined && bytes ? fallback(name, vocabulary) : null;
    const isUnknown = id === undefined && written === null;
    if (id !== undefined) ids.push(id);
    else if (written !== null) ids.push(...written);
    else if (unknown !== undefined && !(fuse && wasUnknown)) ids.push(unknown);
    wasUnknown = isUnknown;
  });
  return ids;
}

function fallback(name: string, { ids }: Vocabulary): readonly number[] | null {
  const found = Array.from(utf8Bytes(name), (byte) =>
    ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  );
  return found.every((id) => id !== undefined) ? found : null;
}

/** The text of bytes, with those that are no character by themselves as <E2>. */
function shownBytes(bytes: readonly number[]): string {
  const text = utf8Text(bytes);
  if (!text.includes('\uFFFD')) return text;
  return bytes
    .map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `<${byte.toString(16).toUpperCase()}>`))
    .join('');
}
