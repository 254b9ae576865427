// The parts of a tokenizer.json as they are written here: of BERT's kin, and of byte-level tokenizers such as GPT-2's.

/** All but the model and the added tokens. */
export interface Parts {
  readonly normalizer: unknown;
  readonly pre_tokenizer: unknown;
  readonly post_processor: unknown;
  readonly decoder: unknown;
}

type Vocabulary = Readonly<Record<string, number>>;

/** A whole tokenizer.json; `special`: tokens with their ids. */
export const tokenizerFile = (parts: Parts, model: unknown, special: readonly SpecialToken[]): unknown => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: special.map(({ token, id, lstrip = false }) => ({
    id,
    content: token,
    single_word: false,
    lstrip,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  ...parts,
  model,
});

export interface SpecialToken {
  readonly token: string;
  readonly id: number;
  /** It takes the spaces before it. */
  readonly lstrip?: boolean;
}

const level = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

/** What surrounds the model in a byte-level tokenizer. */
export const byteLevelParts: Parts = { normalizer: null, pre_tokenizer: level, post_processor: level, decoder: level };

export const bytePairModel = (vocab: Vocabulary, merges: readonly (readonly [string, string])[]): unknown => ({
  type: 'BPE',
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
  fuse_unk: false,
  byte_fallback: false,
  ignore_merges: false,
  vocab,
  merges,
});

/** BERT's special tokens, in the order of their ids where they are trained here. */
export const bertTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'] as const;

export const wordPieceModel = (vocab: Vocabulary, unknown: string): unknown => ({
  type: 'WordPiece',
  unk_token: unknown,
  continuing_subword_prefix: '##',
  max_input_chars_per_word: 100,
  vocab,
});

/** What surrounds the model in a tokenizer of BERT: [CLS] and [SEP] round a text, of the ids 2 and 3 unless told otherwise. */
export function bertParts({
  lowerCase,
  stripAccents = null,
  chinese = true,
  begin = { token: '[CLS]', id: 2 },
  end = { token: '[SEP]', id: 3 },
}: {
  readonly lowerCase: boolean;
  readonly stripAccents?: boolean | null;
  /** Chinese characters are words. */
  readonly chinese?: boolean;
  readonly begin?: SpecialToken;
  readonly end?: SpecialToken;
}): Parts {
  const token = ({ token: id }: SpecialToken): unknown => ({ SpecialToken: { id, type_id: 0 } });
  return {
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: chinese,
      strip_accents: stripAccents,
      lowercase: lowerCase,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [token(begin), { Sequence: { id: 'A', type_id: 0 } }, token(end)],
      pair: [
        token(begin),
        { Sequence: { id: 'A', type_id: 0 } },
        token(end),
        { Sequence: { id: 'B', type_id: 1 } },
        { SpecialToken: { id: end.token, type_id: 1 } },
      ],
      special_tokens: Object.fromEntries(
        [begin, end].map(({ token: name, id }) => [name, { id: name, ids: [id], tokens: [name] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  };
}
