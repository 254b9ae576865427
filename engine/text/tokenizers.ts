// Every kind of tokenizer by one name each: trained on texts, or made again of the plain JSON it was kept as.

import { InputError } from '../protocol/errors.ts';
import { characters, CharacterTrainer } from './characters.ts';
import { Pipeline } from './pipeline.ts';
import { bytePairTrainer, wordPieceTrainer } from './pair-trainers.ts';
import type { Tokenizer } from './tokenizer.ts';
import { words, WordTrainer } from './words.ts';

export { tokenizerFromFiles, type TokenizerFiles } from './vocabulary-files.ts';

/** How to train one. */
export interface TokenizerOptions {
  readonly kind: Tokenizer['kind'];
  /** Tokens at most, special ones counted. */
  readonly vocabulary: number;
  /** WordPiece: in lower case without accents. Absent: yes. */
  readonly lowerCase?: boolean;
}

/** Takes in texts one by one, in memory that does not grow with them. */
export interface TokenizerTrainer {
  add(text: string): void;
  finish(): Tokenizer;
}

/** Begins to train one. */
export function tokenizerTrainer({ kind, vocabulary, lowerCase = true }: TokenizerOptions): TokenizerTrainer {
  switch (kind) {
    case 'characters':
      return new CharacterTrainer(vocabulary);
    case 'words':
      return new WordTrainer(vocabulary);
    case 'wordpiece':
      return wordPieceTrainer(vocabulary, lowerCase);
    case 'bytes':
      return bytePairTrainer(vocabulary);
  }
}

/** Trains a tokenizer on texts: the same texts in the same order give the same one. */
export function trainTokenizer(texts: Iterable<string>, options: TokenizerOptions): Tokenizer {
  const trainer = tokenizerTrainer(options);
  for (const text of texts) trainer.add(text);
  return trainer.finish();
}

/** The tokenizer that `toJSON` wrote, or that a tokenizer.json of Hugging Face describes. Throws InputError `input.tokenizer` where it is none. */
export function tokenizerOf(json: unknown): Tokenizer {
  const kind = typeof json === 'object' && json !== null && 'kind' in json ? json.kind : undefined;
  if (kind === 'characters') return characters(json);
  if (kind === 'words') return words(json);
  if (typeof json === 'object' && json !== null && 'model' in json) return new Pipeline(json);
  throw new InputError(
    'input.tokenizer',
    'This is no tokenizer.',
    'Choose a tokenizer.json, or train one on the texts.',
  );
}
