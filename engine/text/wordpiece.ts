// WordPiece: a word is cut into the longest pieces of the vocabulary from its beginning; all but the first are written with a prefix.

import { z } from 'zod';
import type { Model } from './model.ts';
import { savedAs } from './saved.ts';
import { vocabularyOf, vocabularySchema } from './vocabulary.ts';

const schema = z.object({
  type: z.literal('WordPiece'),
  vocab: vocabularySchema,
  unk_token: z.string().default('[UNK]'),
  continuing_subword_prefix: z.string().default('##'),
  max_input_chars_per_word: z.number().int().positive().default(100),
});

/** Made of the `model` of a tokenizer.json. Throws InputError where it is none. */
export function wordPiece(json: unknown): Model {
  const model = savedAs(schema, json);
  const vocabulary = vocabularyOf(model.vocab);
  const unknown = vocabulary.idOf(model.unk_token, 'the unknown token');
  const [whole, behind] = [vocabulary.ids, new Map<string, number>()];
  const prefix = model.continuing_subword_prefix;
  for (const [token, id] of vocabulary.ids) if (token.startsWith(prefix)) behind.set(token.slice(prefix.length), id);
  const longest = vocabulary.tokens.reduce((most, token) => Math.max(most, token?.length ?? 0), 0);
  return {
    kind: 'wordpiece',
    vocabulary,
    unknown,
    ids(word) {
      if (word.length > model.max_input_chars_per_word && [...word].length > model.max_input_chars_per_word)
        return [unknown];
      const ids: number[] = [];
      for (let start = 0; start < word.length;) {
        const pieces = start === 0 ? whole : behind;
        let end = Math.min(word.length, start + longest);
        let id: number | undefined;
        while (end > start && (id = pieces.get(word.slice(start, end))) === undefined) end--;
        if (id === undefined) return [unknown];
        ids.push(id);
        start = end;
      }
      return ids;
    },
    lengthOf(id, piece) {
      if (id === unknown) return piece;
      const token = vocabulary.tokens[id] ?? '';
      return token.startsWith(prefix) && token !== prefix ? token.length - prefix.length : token.length;
    },
    text: (tokens) => joined(tokens, prefix),
    shown: (token) => token,
  };
}

/** Words with a space between them, but before the signs that stand at one's end. */
function joined(tokens: readonly string[], prefix: string): string {
  const written = tokens.map((token, place) =>
    place === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`,
  );
  return written.map((piece) => ends.reduce((done, [spaced, close]) => done.replaceAll(spaced, close), piece)).join('');
}

const ends: readonly (readonly [string, string])[] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];
