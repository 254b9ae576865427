// What tokenizer_config.json and added_tokens.json say beside a tokenizer: transformers reads by them, whatever tokenizer.json has.

import { z } from 'zod';
import { addedTokenSchema } from './added-tokens.ts';

const kinds = z.record(z.string(), z.unknown()).nullish().catch(null);
const fileSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number() })).nullish(),
  normalizer: kinds,
  pre_tokenizer: kinds,
});

export const besideSchema = z.looseObject({
  tokenizer_class: z.string().nullish(),
  do_lower_case: z.boolean().nullish(),
  strip_accents: z.boolean().nullish(),
  tokenize_chinese_chars: z.boolean().nullish(),
  add_prefix_space: z.boolean().nullish(),
  added_tokens_decoder: z.record(z.string(), addedTokenSchema.omit({ id: true })).nullish(),
});

type Beside = z.infer<typeof besideSchema>;
type Part = Readonly<Record<string, unknown>>;

/** Classes that read tokenizer.json as it stands. */
const plainClasses = new Set(['PreTrainedTokenizerFast', 'TokenizersBackend']);

/** A tokenizer.json, changed as the settings beside it say. `added`: the tokens of added_tokens.json with their ids. */
export function withSettings(json: unknown, settings: Beside, added: Readonly<Record<string, number>>): unknown {
  const read = fileSchema.safeParse(json);
  // What is wrong with it is said where it is read.
  if (!read.success) return json;
  const file = read.data;
  const told = plainClasses.has(settings.tokenizer_class ?? '') ? {} : settings;
  const { do_lower_case: lowercase, strip_accents, tokenize_chinese_chars: handle_chinese_chars } = told;
  const known = new Set((file.added_tokens ?? []).map(({ id }) => id));
  const more = [
    ...Object.entries(settings.added_tokens_decoder ?? {}).map(([id, token]) => ({ ...token, id: Number(id) })),
    ...Object.entries(added).map(([content, id]) => addedTokenSchema.parse({ id, content })),
  ].filter(({ id }) => !known.has(id) && known.add(id));
  return {
    ...file,
    added_tokens: [...(file.added_tokens ?? []), ...more],
    normalizer: changed(file.normalizer, 'BertNormalizer', { lowercase, strip_accents, handle_chinese_chars }),
    pre_tokenizer: changed(file.pre_tokenizer, 'ByteLevel', { add_prefix_space: told.add_prefix_space }),
  };
}

/** A part of this kind with the settings that are said; any other as it is. */
function changed(part: Part | null | undefined, kind: string, settings: Part): Part | null {
  if (part?.['type'] !== kind) return part ?? null;
  const said = Object.entries(settings).filter(([, value]) => value !== null && value !== undefined);
  return { ...part, ...Object.fromEntries(said) };
}
