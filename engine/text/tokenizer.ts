// What every tokenizer does, whatever it was trained by or read from. Ids are its own, from 0; in the rows of a run a token stands as its
// id + 1, and 0 is padding behind the last one (`textCodes`), so that no model has to know which tokenizer made them.

/** A token as it stands in its text. */
export interface Token {
  readonly id: number;
  /** As people should see it; bytes that are no letter by themselves in angle brackets. */
  readonly text: string;
  /** Place in the text, in UTF-16 units: `start` … `end` − 1. Tokens that are not of the text, such as [CLS], are empty. */
  readonly start: number;
  readonly end: number;
}

/** Tokens with a meaning of their own: their ids, where the tokenizer has them. */
export interface SpecialTokens {
  readonly unknown?: number;
  readonly padding?: number;
  /** Stands in front of a text ([CLS], <s>), and behind it ([SEP], </s>). */
  readonly begin?: number;
  readonly end?: number;
  readonly mask?: number;
}

export interface EncodeOptions {
  /** Without the tokens round a text. */
  readonly plain?: boolean;
  /** Ids at most, those round the text among them. */
  readonly most?: number;
  /** Of a text with more its last are taken, not its first. */
  readonly keepsEnd?: boolean;
}

export interface Tokenizer {
  readonly kind: 'characters' | 'words' | 'wordpiece' | 'bytes';
  /** Ids are below it. */
  readonly vocabulary: number;
  readonly special: SpecialTokens;
  /** Ids of a text, with those the tokenizer puts in front and behind unless `plain`. */
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** The same with the places in the text: to show it. */
  tokens(text: string): readonly Token[];
  /** The text of these ids; special tokens are left out. */
  decode(ids: ArrayLike<number>): string;
  /** Plain JSON, part of the recipe of a run: `tokenizerOf` (tokenizers.ts) makes the same of it again. */
  toJSON(): unknown;
}

/** The last ids, `most` of them. */
export const lastOf = (ids: Int32Array, most: number): Int32Array => ids.slice(Math.max(0, ids.length - most));

/** Codes of tokens in the rows of a run. */
export const textCodes = { padding: 0, first: 1 } as const;
