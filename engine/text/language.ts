// What a language model reads and writes by, as the recipe of its run holds it (engine/data/language.ts).

import { z } from 'zod';
import type { Tokenizer } from './tokenizer.ts';
import { tokenizerOf } from './tokenizers.ts';

export interface Language {
  readonly tokenizer: Tokenizer;
  /** Tokens that a model sees of what was before. */
  readonly length: number;
}

const schema = z.looseObject({
  language: z.literal(true),
  features: z.tuple([z.looseObject({ tokenizer: z.unknown(), length: z.number().int().positive() })]),
});

/** The classes of a language model: the text of each token, in the order of the ids. */
export const tokenNames = (tokenizer: Tokenizer): string[] =>
  Array.from({ length: tokenizer.vocabulary }, (_, id) => tokenizer.decode([id]));

/** Null: the recipe is not a language model's. Throws InputError where its tokenizer is damaged. */
export function languageOf(preprocessing: unknown): Language | null {
  const read = schema.safeParse(preprocessing);
  if (!read.success) return null;
  const [{ tokenizer, length }] = read.data.features;
  return { tokenizer: tokenizerOf(tokenizer), length };
}
