// Tokenizers from the files of a folder: tokenizer.json, or what they were kept in before: vocab.txt of BERT's kin, vocab.json and merges.txt
// of GPT-2's and RoBERTa's, with tokenizer_config.json beside them.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { bertParts, byteLevelParts, bytePairModel, tokenizerFile, wordPieceModel, type SpecialToken } from './parts.ts';
import { Pipeline } from './pipeline.ts';
import { savedAs } from './saved.ts';
import { besideSchema, withSettings } from './tokenizer-settings.ts';
import type { Tokenizer } from './tokenizer.ts';
import { vocabularyOf, vocabularySchema, type Vocabulary } from './vocabulary.ts';

/** The texts of the files there are. */
export type TokenizerFiles = Readonly<
  Partial<
    Record<
      'tokenizer.json' | 'vocab.txt' | 'vocab.json' | 'merges.txt' | 'tokenizer_config.json' | 'added_tokens.json',
      string
    >
  >
>;

const name = z.union([z.string(), z.object({ content: z.string() }).transform(({ content }) => content)]).nullish();

const settingsSchema = z.looseObject({
  ...besideSchema.shape,
  unk_token: name,
  cls_token: name,
  sep_token: name,
  pad_token: name,
  mask_token: name,
});

type Settings = z.infer<typeof settingsSchema>;

/** The tokenizer of a folder. Throws InputError `input.tokenizer` where a file is missing, damaged or not supported. */
export function tokenizerFromFiles(files: TokenizerFiles): Tokenizer {
  const read = <T>(schema: z.ZodType<T>, name: 'tokenizer_config.json' | 'added_tokens.json'): T =>
    savedAs(schema, parsed(name, files[name] ?? '{}'), `file ${name}`);
  const settings = read(settingsSchema, 'tokenizer_config.json');
  const added = read(vocabularySchema, 'added_tokens.json');
  try {
    return new Pipeline(withSettings(fileOf(files, settings), settings, added));
  } catch (error) {
    // Steps within steps without end.
    if (!(error instanceof RangeError)) throw error;
    const hint = 'Use another copy of it.';
    throw new InputError('input.tokenizer', 'The steps of tokenizer.json are nested too deep.', hint, { cause: error });
  }
}

function fileOf(files: TokenizerFiles, settings: Settings): unknown {
  const { 'tokenizer.json': whole, 'vocab.txt': lines, 'vocab.json': ids, 'merges.txt': merges } = files;
  if (whole !== undefined) return parsed('tokenizer.json', whole);
  if (lines !== undefined) return fromLines(lines, settings);
  if (ids !== undefined && merges !== undefined) return fromMerges(parsed('vocab.json', ids), merges, settings);
  throw new InputError(
    'input.tokenizer',
    'There is no tokenizer here.',
    'It needs tokenizer.json, or vocab.txt, or vocab.json and merges.txt.',
  );
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InputError('input.tokenizer', `${file} is no JSON.`, 'Use another copy of it.', { cause });
  }
}

/** BERT's: a token a line, its id the number of the line from 0. In lower case unless its settings say otherwise. */
function fromLines(text: string, settings: Settings): unknown {
  const lines = text.split(/\r?\n/);
  // Empty lines at the end are tokens to no model.
  const tokens = lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const vocabulary = vocabularyOf(vocab);
  const unknown = settings.unk_token ?? '[UNK]';
  const begin = named(vocabulary, settings.cls_token ?? '[CLS]');
  const end = named(vocabulary, settings.sep_token ?? '[SEP]');
  const others = [settings.pad_token ?? '[PAD]', unknown, settings.mask_token ?? '[MASK]'];
  const parts = bertParts({
    lowerCase: settings.do_lower_case ?? true,
    stripAccents: settings.strip_accents ?? null,
    chinese: settings.tokenize_chinese_chars ?? true,
    begin,
    end,
  });
  return tokenizerFile(parts, wordPieceModel(vocab, unknown), [...present(vocabulary, others), begin, end]);
}

/** GPT-2's, or RoBERTa's where there are <s> and </s>. */
function fromMerges(json: unknown, merges: string, settings: Settings): unknown {
  const vocab = savedAs(vocabularySchema, json, 'vocab.json');
  const vocabulary = vocabularyOf(vocab);
  const pairs = merges.split(/\r?\n/).flatMap((line, i): readonly (readonly [string, string])[] => {
    if (line === '' || (i === 0 && line.startsWith('#version'))) return [];
    const [left, right, ...more] = line.split(' ');
    if (right !== undefined && more.length === 0) return [[left, right]];
    throw new InputError('input.tokenizer', `Line ${i + 1} of merges.txt is no pair.`, 'Use another copy of it.');
  });
  const spaced = settings.add_prefix_space ?? false;
  const level = { type: 'ByteLevel', add_prefix_space: spaced, trim_offsets: true, use_regex: true };
  const begin = settings.cls_token ?? '<s>';
  const end = settings.sep_token ?? '</s>';
  const framed = vocabulary.ids.has(begin) && vocabulary.ids.has(end);
  const frame = framed
    ? {
        type: 'RobertaProcessing',
        sep: [end, vocabulary.ids.get(end)],
        cls: [begin, vocabulary.ids.get(begin)],
        trim_offsets: true,
        add_prefix_space: spaced,
      }
    : byteLevelParts.post_processor;
  const names = framed ? [begin, settings.pad_token ?? '<pad>', end, settings.unk_token ?? '<unk>'] : ['<|endoftext|>'];
  const mask = framed ? present(vocabulary, [settings.mask_token ?? '<mask>']) : [];
  return tokenizerFile(
    { ...byteLevelParts, pre_tokenizer: level, post_processor: frame },
    bytePairModel(vocab, pairs),
    [...present(vocabulary, names), ...mask.map((token) => ({ ...token, lstrip: true }))],
  );
}

const named = (vocabulary: Vocabulary, token: string): SpecialToken => ({
  token,
  id: vocabulary.idOf(token, 'the special token'),
});

const present = ({ ids }: Vocabulary, tokens: readonly string[]): readonly SpecialToken[] =>
  tokens.flatMap((token) => (ids.has(token) ? [{ token, id: ids.get(token)! }] : []));
