// What a model of a tokenizer.json does: it cuts a piece of a text into tokens.

import type { Tokenizer } from './tokenizer.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface Model {
  readonly kind: Extract<Tokenizer['kind'], 'wordpiece' | 'bytes'>;
  readonly vocabulary: Vocabulary;
  readonly unknown?: number;
  /** Ids of a piece as it is written; in bytes, if the pre-tokenizer writes it so. */
  ids(piece: string): readonly number[];
  /** How many characters a token takes of a piece so long. */
  lengthOf(id: number, piece: number): number;
  /** The text of consecutive tokens. */
  text(tokens: readonly string[]): string;
  /** A token as people should see it. */
  shown(token: string): string;
}
