// Text from a language model: token by token, each drawn from what the model expects after those before it. The same seed gives the same text.

import { threefry2x32 } from '../../kernels/threefry.ts';
import { streams } from '../optim/random.ts';
import { textCodes } from '../text/tokenizer.ts';
import type { Language } from '../text/language.ts';

/** Logits [vocabulary] of the token that follows ids, of which there are no more than the model sees. */
export type Following = (ids: readonly number[]) => Promise<Float32Array>;

/** The same of a model that is given codes [length], of which those behind the text are padding, and computes all of them each time. */
export function fromCodes(length: number, outputs: (codes: Float32Array) => Promise<Float32Array>): Following {
  return (ids) => {
    const codes = new Float32Array(length).fill(textCodes.padding);
    ids.forEach((id, place) => (codes[place] = id + textCodes.first));
    return outputs(codes);
  };
}

export interface GenerateOptions {
  readonly prompt: string;
  /** How many to write. */
  readonly tokens: number;
  /** Logits are divided by it: 0 takes the likeliest token always. */
  readonly temperature: number;
  /** Only the likeliest tokens are drawn from, as many as together have this probability. */
  readonly topP: number;
  readonly seed: number;
}

/** What a text begins with where nothing is said. */
export const beginning = '\n';
/** From so many tokens on keeping what was computed of those before pays (incremental.ts); shorter contexts a device computes whole in less time. */
export const keptFrom = 128;
/** What the end of a text may look like whose last character is not complete. */
const incomplete = /\uFFFD$/;

/** Writes on after the prompt, which is not part of it: pieces of text, as soon as they are whole characters. */
export async function* generate(
  following: Following,
  { tokenizer, length }: Language,
  { prompt, tokens, temperature, topP, seed }: GenerateOptions,
): AsyncGenerator<string> {
  const ids = [...tokenizer.encode(prompt === '' ? beginning : prompt, { plain: true })];
  if (ids.length === 0) ids.push(0);
  /** The first token that it sees. */
  let start = Math.max(0, ids.length - length);
  /** Drawn, and not yet written. */
  let open: number[] = [];
  for (let drawn = 0; drawn < tokens; drawn++) {
    // Every place is another where the oldest token goes, and all is computed anew: of what is kept half goes at once, and not soon again.
    if (ids.length - start > length) start = ids.length - (length < keptFrom ? length : Math.ceil(length / 2));
    const logits = await following(ids.slice(start));
    const { unknown } = tokenizer.special;
    // What stands for all that training has not seen has no text.
    if (unknown !== undefined) logits[unknown] = -Infinity;
    const id = drawToken(logits, { temperature, topP }, uniform(seed, drawn));
    ids.push(id);
    open.push(id);
    const text = tokenizer.decode(open);
    if (drawn + 1 < tokens && incomplete.test(text)) continue;
    if (text !== '') yield text;
    open = [];
  }
}

/** A number in [0, 1): the one of this place in the text. */
function uniform(seed: number, place: number): number {
  const [word] = threefry2x32(seed, streams.generate, place, 0);
  return word / 2 ** 32;
}

/** The place of one of the logits, drawn by their softmax over `temperature`, of the likeliest that together have `topP`. */
export function drawToken(
  logits: Float32Array,
  { temperature, topP }: Pick<GenerateOptions, 'temperature' | 'topP'>,
  uniform: number,
): number {
  const order = Uint32Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
  if (temperature === 0) return order[0];
  const largest = logits[order[0]];
  const weights = Float64Array.from(order, (id) => Math.exp((logits[id] - largest) / temperature));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  let kept = 0;
  let sum = 0;
  while (kept < weights.length && (kept === 0 || sum < topP * all)) sum += weights[kept++];
  let left = uniform * sum;
  for (let place = 0; place < kept; place++) {
    left -= weights[place];
    if (left < 0) return order[place];
  }
  return order[kept - 1];
}
