// What a folder of timm says of its picture model: `config.json` with the architecture and the pictures it was trained on.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';

const channels = z.array(z.number()).min(1).max(3);
const pictures = z.looseObject({
  mean: channels.optional(),
  std: z.array(z.number().positive()).min(1).max(3).optional(),
  /** Channels, height, width. */
  input_size: z.tuple([z.int(), z.int().min(32).max(1024), z.int().min(32).max(1024)]).optional(),
});
// Older files have them at their top.
const schema = z.looseObject({
  architecture: z.string(),
  pretrained_cfg: pictures.optional(),
  label_names: z.array(z.string()).optional(),
  ...pictures.shape,
});

export interface TimmConfig {
  readonly architecture: string;
  readonly mean?: readonly number[];
  readonly deviation?: readonly number[];
  readonly size?: { readonly height: number; readonly width: number };
  readonly classes?: readonly string[];
}

/** What a config.json says, if it is one of timm: those of transformers have a `model_type`. Throws InputError `input.config` for a damaged one. */
export function timmConfigOf(text: string | undefined): TimmConfig | null {
  if (text === undefined) return null;
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof config !== 'object' || config === null || !('architecture' in config) || 'model_type' in config)
    return null;
  const read = schema.safeParse(config);
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    throw new InputError(
      'input.config',
      `config.json cannot be used: ${path.join('.')}: ${message}.`,
      'It has to be the one that timm wrote beside the weights.',
    );
  }
  const { architecture, pretrained_cfg: own = {}, label_names: classes } = read.data;
  const { mean, std: deviation, input_size: size } = { ...read.data, ...own };
  return {
    architecture,
    ...(mean && deviation && { mean, deviation }),
    ...(size && { size: { height: size[1], width: size[2] } }),
    ...(classes && { classes }),
  };
}
