// Characters as tokens: each Unicode code point that training saw, in the order of their numbers. Id 0 stands for all others. Half a
// surrogate pair counts as U+FFFD, as in UTF-8.

import { z } from 'zod';
import { Counts } from './counts.ts';
import { savedAs } from './saved.ts';
import { lastOf, type EncodeOptions, type Token, type Tokenizer } from './tokenizer.ts';

const unknown = 0;
/** What stands for an unknown character in a text that is read back. */
const replacement = '\uFFFD';

const schema = z.object({ kind: z.literal('characters'), characters: z.string() });

/** Counts characters, and keeps the ones seen most. */
export class CharacterTrainer {
  readonly #vocabulary: number;
  readonly #counts = new Counts();

  constructor(vocabulary: number) {
    this.#vocabulary = vocabulary;
  }

  add(text: string): void {
    for (const character of text.toWellFormed()) this.#counts.add(character);
  }

  finish(): Tokenizer {
    const seen = this.#counts.frequent(this.#vocabulary - 1);
    const inOrder = seen.toSorted((a, b) => a.codePointAt(0)! - b.codePointAt(0)!);
    return new Characters(inOrder);
  }
}

/** Made again of its JSON. */
export const characters = (json: unknown): Tokenizer => new Characters([...savedAs(schema, json).characters]);

class Characters implements Tokenizer {
  readonly kind = 'characters';
  readonly special = { unknown };
  readonly vocabulary: number;
  readonly #characters: readonly string[];
  readonly #ids: ReadonlyMap<number, number>;

  /** Those of ids 1, 2, … */
  constructor(inOrder: readonly string[]) {
    this.#characters = inOrder;
    this.#ids = new Map(inOrder.map((character, place) => [character.codePointAt(0)!, place + 1]));
    this.vocabulary = inOrder.length + 1;
  }

  encode(text: string, { most = Infinity, keepsEnd = false }: EncodeOptions = {}): Int32Array {
    if (keepsEnd) return lastOf(this.encode(text), most);
    const whole = text.toWellFormed();
    const ids = new Int32Array(Math.min(whole.length, most));
    let count = 0;
    for (let place = 0; place < whole.length && count < ids.length; count++) {
      const code = whole.codePointAt(place)!;
      ids[count] = this.#ids.get(code) ?? unknown;
      place += code > 0xffff ? 2 : 1;
    }
    return ids.slice(0, count);
  }

  tokens(text: string): readonly Token[] {
    let start = 0;
    return Array.from(text.toWellFormed(), (character) => {
      const token = { id: this.#ids.get(character.codePointAt(0)!) ?? unknown, text: character, start };
      start += character.length;
      return { ...token, end: start };
    });
  }

  decode(ids: ArrayLike<number>): string {
    return Array.from(ids, (id) => this.#characters[id - 1] ?? replacement).join('');
  }

  toJSON(): z.infer<typeof schema> {
    return { kind: 'characters', characters: this.#characters.join('') };
  }
}
