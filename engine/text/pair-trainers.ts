// Tokenizers of byte pairs and WordPiece trained on texts: texts are normalized and cut into words as they will be when they are encoded,
// the words are counted, and merges learnt from the counts. What comes out is a tokenizer.json.

import { Counts } from './counts.ts';
import { normalizerOf } from './normalizers.ts';
import { learnPairs, type PairTraining } from './pair-training.ts';
import {
  bertParts,
  bertTokens,
  byteLevelParts,
  bytePairModel,
  tokenizerFile,
  wordPieceModel,
  type Parts,
} from './parts.ts';
import { Pipeline } from './pipeline.ts';
import { preTokenizationOf } from './pre-tokenizers.ts';
import type { Tokenizer } from './tokenizer.ts';
import { byteCharacters, writtenInBytes } from './utf8.ts';

/** Characters of a word at most: a text without spaces is learnt from in parts. */
const longestWord = 256;

/** Takes in texts, counts their words and learns. */
class PairTrainer {
  readonly #counts = new Counts();
  readonly #parts: Parts;
  readonly #normalizer: (text: string) => string;
  readonly #words: (text: string) => readonly string[];
  readonly #learnt: (words: PairTraining['words']) => unknown;

  readonly #special: readonly string[];

  /** `learnt`: the `model` of a tokenizer.json from counted words. */
  constructor(parts: Parts, special: readonly string[], learnt: (words: PairTraining['words']) => unknown) {
    this.#parts = parts;
    this.#special = special;
    this.#normalizer = normalizerOf(parts.normalizer);
    this.#words = preTokenizationOf(parts.pre_tokenizer).strings;
    this.#learnt = learnt;
  }

  add(text: string): void {
    for (const word of this.#words(this.#normalizer(text.toWellFormed()))) {
      if (word.length <= longestWord) this.#counts.add(word);
      else for (const part of word.match(partsOfLong) ?? []) this.#counts.add(part);
    }
  }

  finish(): Tokenizer {
    const words = this.#counts.entries().toSorted(([a], [b]) => (a < b ? -1 : 1));
    const special = this.#special.map((token, id) => ({ token, id }));
    return new Pipeline(tokenizerFile(this.#parts, this.#learnt(words), special));
  }
}

const partsOfLong = new RegExp(`.{1,${longestWord / 2}}`, 'gsu');

const ids = (symbols: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(symbols.map((symbol, id) => [symbol, id]));

/** GPT-2's: byte pairs of words with the space before them; nothing is unknown. */
export function bytePairTrainer(vocabulary: number): PairTrainer {
  const special = ['<|endoftext|>'];
  return new PairTrainer(byteLevelParts, special, (words) => {
    const written = words.map(([word, times]) => [writtenInBytes(word), times] as const);
    const mostCharacters = byteCharacters.length;
    const training = { words: written, vocabulary, special, alphabet: byteCharacters, mostCharacters, prefix: '' };
    const { symbols, merges } = learnPairs(training);
    return bytePairModel(ids(symbols), merges);
  });
}

/** BERT's, in lower case without accents or as it is written. */
export function wordPieceTrainer(vocabulary: number, lowerCase: boolean): PairTrainer {
  return new PairTrainer(bertParts({ lowerCase }), bertTokens, (words) => {
    // Each character is two tokens: as a beginning, and behind one.
    const mostCharacters = Math.min(1_000, Math.floor(vocabulary / 4));
    const { symbols } = learnPairs({
      words,
      vocabulary,
      special: bertTokens,
      alphabet: [],
      mostCharacters,
      prefix: '##',
    });
    return wordPieceModel(ids(symbols), '[UNK]');
  });
}
