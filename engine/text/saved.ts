// Tokenizers as they were kept: checked before they are used.

import type { z } from 'zod';
import { InputError } from '../protocol/errors.ts';

/** The value as this schema has it. Throws InputError `input.tokenizer`, which names the first thing that is wrong. */
export function savedAs<T>(schema: z.ZodType<T>, json: unknown): T {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [{ path, message }] = read.error.issues;
  const where = path.length > 0 ? ` at “${path.join('.')}”` : '';
  throw new InputError(
    'input.tokenizer',
    `The tokenizer cannot be read${where}: ${message}.`,
    'Choose another tokenizer.json, or train one on the texts.',
  );
}
