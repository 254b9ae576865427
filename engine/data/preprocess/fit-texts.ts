// Fitting texts: a tokenizer is trained on those of the training split, and how many tokens and characters of a text are read is told by them.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, TextChoice, TextWay } from '../../protocol/data.ts';
import { tokenizerOf, trainTokenizer } from '../../text/tokenizers.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import type { KeptText } from '../kept-tokens.ts';
import { exactText, type StoredColumn } from '../schema/stored.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { cutTexts, mostCharacters } from '../schema/text-lengths.ts';
import { show } from '../schema/typing.ts';
import type { TextRecipe } from './recipe.ts';
import { cutText } from './texts.ts';
import type { TextCells } from './values.ts';

/** UTF-16 units of training texts in memory at most, evenly thinned beyond. */
const heldCharacters = 2 ** 25;
/** Texts by which lengths are told, evenly thinned. */
const measuredTexts = 10_000;
/** This share of the training texts is not cut. */
const wholeShare = 0.95;
/** Tokens read in their order, and words counted, at most. */
const mostTokens = { tokens: 256, words: 1_024 } as const;
const usualVocabulary = { tokens: 8_192, words: 65_536 } as const;

export interface TextFit {
  /** Null: the texts are the same in the whole training split, or empty there. */
  readonly recipe: TextRecipe | null;
  readonly warnings: readonly DataWarning[];
}

interface FitRequest {
  readonly table: MeasuredTable;
  readonly column: StoredColumn;
  readonly way: TextWay;
  readonly choice: TextChoice;
  /** What its tokens are cut by; absent: a tokenizer is trained. Words that are counted are always those of the rows here. */
  readonly kept?: KeptText;
  /** Split of each row; 0 = training. */
  readonly splits: Uint8Array;
  readonly job: Job;
}

/** The recipe of a column of texts. */
export async function fitText(connection: DuckDBConnection, request: FitRequest): Promise<TextFit> {
  const { column, way, choice, kept } = request;
  const keepsEnd = keepsEndOf(request);
  const { texts, missing, present, longest, differ } = await trainingTexts(connection, request);
  if (present === 0 || (!differ && missing === 0)) return { recipe: null, warnings: [] };
  const base = {
    kind: 'text' as const,
    column: column.name,
    missing: [...column.missing],
    missingShare: missing / (missing + present),
    characters: Math.max(1, Math.min(longest, mostCharacters)),
    ...(keepsEnd && { keepsEnd }),
  } satisfies Partial<TextRecipe>;
  const tooLong = cutTexts(column.name, longest, keepsEnd);
  const warnings = tooLong ? [tooLong] : [];
  if (way === 'as they are') return { recipe: { ...base, vocabulary: 1, length: 1 }, warnings };
  const taken = way === 'tokens' ? kept : undefined;
  const tokenizer = taken
    ? tokenizerOf(taken.tokenizer)
    : trainTokenizer(texts, {
        kind: way === 'words' ? 'words' : (choice.tokenizer ?? 'words'),
        vocabulary: choice.vocabulary ?? usualVocabulary[way],
      });
  const { length, cut } = lengthFor(texts, tokenizer, {
    chosen: choice.length ?? taken?.exactly,
    most: Math.min(mostTokens[way], taken?.most ?? Infinity),
    whole: way === 'words',
  });
  if (cut > 0) {
    const share = Number((100 * cut).toPrecision(2));
    const message = `${share} % of the training texts of ${column.name} are longer than ${show(length)} tokens: ${keepsEnd ? 'their beginning' : 'the rest of them'} is not read.`;
    warnings.push({ code: 'cut_texts', message, columns: [column.name] });
  }
  const read: KeptText = taken ?? { tokenizer: tokenizer.toJSON(), vocabulary: tokenizer.vocabulary };
  const { tokenizer: json, vocabulary, placeless } = read;
  const recipe = { ...base, tokenizer: json, vocabulary, length, ...(placeless !== undefined && { placeless }) };
  return { recipe, warnings };
}

/** Words are counted from the beginning, whatever a model to begin with does. */
const keepsEndOf = ({ way, kept }: Pick<FitRequest, 'way' | 'kept'>): boolean =>
  way !== 'words' && kept?.keepsEnd === true;

interface LengthWish {
  readonly chosen: number | undefined;
  readonly most: number;
  /** No text is to be cut, where there is room. */
  readonly whole: boolean;
}

/** Tokens that are read of a text, and the share of the texts that have more. */
function lengthFor(
  texts: readonly string[],
  tokenizer: Tokenizer,
  { chosen, most, whole }: LengthWish,
): { readonly length: number; readonly cut: number } {
  const every = Math.max(1, Math.ceil(texts.length / measuredTexts));
  const lengths = texts
    .filter((_, place) => place % every === 0)
    .map((text) => tokenizer.encode(text).length)
    .sort((one, other) => one - other);
  const enough = whole ? lengths.at(-1) : lengths[Math.ceil(wholeShare * lengths.length) - 1];
  const length = Math.max(1, chosen ?? Math.min(most, enough ?? 1));
  return { length, cut: lengths.filter((tokens) => tokens > length).length / Math.max(1, lengths.length) };
}

interface TrainingTexts {
  /** As much of each as is read. */
  readonly texts: readonly string[];
  readonly missing: number;
  readonly present: number;
  /** UTF-16 units of the longest. */
  readonly longest: number;
  /** Whether there are two that are not the same. */
  readonly differ: boolean;
}

async function trainingTexts(connection: DuckDBConnection, request: FitRequest): Promise<TrainingTexts> {
  const { table, column, splits, job } = request;
  const keepsEnd = keepsEndOf(request);
  let texts: string[] = [];
  let [start, missing, present, longest, held, every] = [0, 0, 0, 0, 0, 1];
  let first: string | null = null;
  let differ = false;
  const sql = `SELECT ${exactText(column)} FROM ${table.from}`;
  await streamNumbers(connection, sql, job, ([cells], rows) => {
    for (let row = 0; row < rows; row++) {
      if (splits[start + row] !== 0) continue;
      const text = (cells as unknown as TextCells).getItem(row);
      if (text === null) {
        missing++;
        continue;
      }
      first ??= text;
      differ ||= text !== first;
      longest = Math.max(longest, text.length);
      if (present++ % every !== 0) continue;
      const kept = cutText(text, mostCharacters, keepsEnd);
      texts.push(kept);
      held += kept.length;
      if (held <= heldCharacters) continue;
      texts = texts.filter((_, place) => place % 2 === 0);
      held = texts.reduce((sum, { length }) => sum + length, 0);
      every *= 2;
    }
    start += rows;
  });
  return { texts, missing, present, longest, differ };
}
