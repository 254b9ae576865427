// Texts → codes: what a tokenizer that was trained on the training rows makes of them.

import { textCodes, type Tokenizer } from '../../text/tokenizer.ts';
import { tokenizerOf } from '../../text/tokenizers.ts';
import type { TextRecipe } from './recipe.ts';
import type { Values } from './values.ts';

const made = new WeakMap<object, Tokenizer>();

/** The tokenizer of a recipe, made once of what the recipe holds. */
export function tokenizerFor({ tokenizer }: Pick<TextRecipe, 'tokenizer'>): Tokenizer {
  const key = tokenizer as object;
  const known = made.get(key);
  if (known) return known;
  const own = tokenizerOf(key);
  made.set(key, own);
  return own;
}

/** The beginning of a text, or its end, without half a character where it is cut. */
export function cutText(text: string, characters: number, keepsEnd = false): string {
  if (text.length <= characters) return text;
  if (keepsEnd) {
    const first = text.charCodeAt(text.length - characters);
    return text.slice(text.length - characters + (first >= 0xdc00 && first < 0xe000 ? 1 : 0));
  }
  const last = text.charCodeAt(characters - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? characters - 1 : characters);
}

/** Writes the codes of a text into `x` from `at` on: `length` of them. A missing one is read as an empty one, of which BERT's tokenizer makes
 *  [CLS] [SEP]. */
export function encodeText(recipe: TextRecipe, text: string | null, x: Values, at: number): void {
  const { characters, length, keepsEnd } = recipe;
  const ids = tokenizerFor(recipe).encode(cutText(text ?? '', characters, keepsEnd), { most: length, keepsEnd });
  for (let i = 0; i < length; i++) x[at + i] = i < ids.length ? ids[i] + textCodes.first : textCodes.padding;
}
