// The models of tests/golden/make_pretrained_texts.py: tensors whose values are functions of their places, and what PyTorch answers.

import fs from 'node:fs';
import path from 'node:path';
import { encodeSafetensors, type SafeTensor } from '../../engine/train/safetensors.ts';
import { hashed, productOf } from './pretrained-pictures.ts';

export interface GoldenText {
  readonly config: Readonly<Record<string, unknown>>;
  readonly tokenizer: string;
  readonly tensors: Readonly<Record<string, readonly number[]>>;
  /** Of each text: probabilities, or a number; none of a body. */
  readonly answers: readonly (readonly number[])[];
}

export const goldenTexts = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'pretrained-texts.json'), 'utf8'),
) as {
  readonly texts: readonly string[];
  readonly tokenizers: Readonly<Record<string, unknown>>;
  readonly models: Readonly<Record<string, GoldenText>>;
  /** What they answer of an empty text, where their tokenizer puts tokens round it. */
  readonly empty: Readonly<Record<string, readonly number[]>>;
  /** What they answer where the end of a text is kept that is too long (`truncation_side` left). */
  readonly ends: Readonly<Record<string, readonly (readonly number[])[]>>;
  /** What a language model of gpt2's body writes after the prompt, the likeliest token always: told by its table of tokens, or by weights of its own. */
  readonly written: { readonly prompt: string; readonly tied: string; readonly own: string };
  /** Of `bert` without dropout: the classes of the texts, and the losses of steps of Adam (0.003) on all of them at once. */
  readonly fineTuned: {
    readonly labels: readonly number[];
    readonly losses: readonly number[];
    /** The same where the ends of texts are kept. */
    readonly ends: readonly number[];
  };
};

export function valuesOf(name: string, shape: readonly number[], k: number): Float32Array {
  const norm = name.endsWith('weight') && /Norm|ln_|layer_norm/.test(name);
  const scale = (): number => {
    if (/^(classifier|score)/.test(name)) return 3 / Math.sqrt(shape[1]);
    return /mbedding|wte|wpe/.test(name) ? 4 : 12 / Math.sqrt(shape[1]);
  };
  const [times, plus] = shape.length === 1 ? [0.2, norm ? 1 : 0] : [scale(), 0];
  return Float32Array.from({ length: productOf(shape) }, (_, i) => hashed(i, k) * times + plus);
}

export const textTensorsOf = ({ tensors }: GoldenText): Record<string, SafeTensor> =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, shape], k) => [name, { shape, data: valuesOf(name, shape, k) }]),
  );

/** The files of its folder. */
export function folderOf(model: GoldenText): Readonly<Record<string, string | Uint8Array>> {
  return {
    'config.json': JSON.stringify(model.config),
    'tokenizer.json': JSON.stringify(goldenTexts.tokenizers[model.tokenizer]),
    'model.safetensors': encodeSafetensors({ tensors: textTensorsOf(model), metadata: { format: 'pt' } }),
  };
}

/** Files as they stand in a folder. */
export const nested = (
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Record<string, string | Uint8Array> =>
  Object.fromEntries(Object.entries(files).map(([name, data]) => [`${folder}/${name}`, data]));
