// Tokenizers as they were kept, here or by others: checked before they are used.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';

const hint = 'Choose another tokenizer.json, or train a tokenizer on the texts.';

/** The value as this schema has it. Throws InputError `input.tokenizer`, which names the first thing that is wrong. */
export function savedAs<T>(schema: z.ZodType<T>, json: unknown, what = 'tokenizer'): T {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [{ path, message }] = read.error.issues;
  const where = path.length > 0 ? ` at “${path.join('.')}”` : '';
  throw new InputError('input.tokenizer', `The ${what} cannot be read${where}: ${message}.`, hint);
}

const kind = z.looseObject({ type: z.string() });

/** The `type` of a part of a tokenizer.json. */
export const kindOf = (json: unknown, what: string): string => savedAs(kind, json, what).type;

/** That a part of a tokenizer.json is not one of those known here. */
export const unsupported = (what: string, name: string): InputError =>
  new InputError('input.tokenizer', `The ${what} “${name}” of this tokenizer is not supported.`, hint);
