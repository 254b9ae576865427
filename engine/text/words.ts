// Words as tokens, for counting them (TF-IDF): runs of letters, marks and digits of any script in lower case, of composed characters
// (NFC). Everything between words is dropped, so a text cannot be read back to the letter. Id 0 stands for words that training has not kept.

import { z } from 'zod';
import { Counts } from './counts.ts';
import { savedAs } from './saved.ts';
import { lastOf, type EncodeOptions, type Token, type Tokenizer } from './tokenizer.ts';

const unknown = 0;
const word = /[\p{L}\p{M}\p{N}]+/gu;

const schema = z.object({ kind: z.literal('words'), words: z.array(z.string()) });

const spelled = (found: string): string => found.normalize('NFC').toLowerCase();

/** Counts in how many texts each word occurs, and keeps those of most texts. */
export class WordTrainer {
  readonly #vocabulary: number;
  readonly #counts = new Counts();

  constructor(vocabulary: number) {
    this.#vocabulary = vocabulary;
  }

  add(text: string): void {
    const found = new Set<string>();
    for (const [match] of text.matchAll(word)) found.add(spelled(match));
    for (const name of found) this.#counts.add(name);
  }

  finish(): Tokenizer {
    return new Words(this.#counts.frequent(this.#vocabulary - 1));
  }
}

/** Made again of its JSON. */
export const words = (json: unknown): Tokenizer => new Words(savedAs(schema, json).words);

class Words implements Tokenizer {
  readonly kind = 'words';
  readonly special = { unknown };
  readonly vocabulary: number;
  readonly #words: readonly string[];
  readonly #ids: ReadonlyMap<string, number>;

  /** Those of ids 1, 2, …: first those of most texts. */
  constructor(inOrder: readonly string[]) {
    this.#words = inOrder;
    this.#ids = new Map(inOrder.map((name, place) => [name, place + 1]));
    this.vocabulary = inOrder.length + 1;
  }

  encode(text: string, { most = Infinity, keepsEnd = false }: EncodeOptions = {}): Int32Array {
    if (keepsEnd) return lastOf(this.encode(text), most);
    const ids: number[] = [];
    for (const [match] of text.matchAll(word)) {
      if (ids.length >= most) break;
      ids.push(this.#ids.get(spelled(match)) ?? unknown);
    }
    return Int32Array.from(ids);
  }

  tokens(text: string): readonly Token[] {
    return Array.from(text.matchAll(word), (match) => {
      const name = spelled(match[0]);
      const id = this.#ids.get(name) ?? unknown;
      return { id, text: name, start: match.index, end: match.index + match[0].length };
    });
  }

  decode(ids: ArrayLike<number>): string {
    return Array.from(ids, (id) => this.#words[id - 1] ?? '?').join(' ');
  }

  toJSON(): z.infer<typeof schema> {
    return { kind: 'words', words: [...this.#words] };
  }
}
