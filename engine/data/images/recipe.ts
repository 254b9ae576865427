// What turns a picture file into what a model saw while training: size, fit, channels, normalisation and classes. Plain
// JSON, part of the run and of every export; docs/images.md explains it to those who read it elsewhere.

import { z } from 'zod';
import { InputError } from '../../protocol/errors.ts';

const side = z.number().int().positive();

const schema = z.object({
  version: z.literal(1),
  kind: z.literal('image'),
  channels: z.union([z.literal(1), z.literal(3)]),
  height: side,
  width: side,
  fit: z.enum(['crop', 'pad', 'stretch']),
  /** A channel each: x = (pixel / 255 − mean) / deviation. */
  mean: z.array(z.number()),
  deviation: z.array(z.number().positive()),
  /** A row's target is a position in this list. */
  classes: z.array(z.string()).min(2),
});

export type ImagePreprocessing = Readonly<z.infer<typeof schema>>;

/** Whether preprocessing is that of pictures. */
export function isImagePreprocessing(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'image';
}

/** Checks preprocessing that comes from a file. @throws InputError if it is none, or of a later version. */
export function parseImagePreprocessing(value: unknown): ImagePreprocessing {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0];
  throw new InputError(
    'input.preprocessing',
    `The run's preprocessing cannot be used: ${where?.path.join('.') ?? ''} ${where?.message ?? ''}`.trim(),
    'It may come from a later version: update Trainyard, or train again.',
  );
}
