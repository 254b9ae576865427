// Making a text ready for a language model: the texts of a column in their order, one behind the other, cut into a part to train on, one to
// validate by and one to test by. The tokenizer is trained on the first alone, and no row reaches over the border of two. N rows, L tokens.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../protocol/errors.ts';
import type { DataWarning, PreparedData, SplitName, TextChoice } from '../protocol/data.ts';
import { splitNames, usualSplit } from '../protocol/use.ts';
import { shortText, usualReading } from '../settings/language.ts';
import { tokenNames } from '../text/language.ts';
import { textCodes, type Tokenizer } from '../text/tokenizer.ts';
import { tokenizerOf, trainTokenizer } from '../text/tokenizers.ts';
import { keptTokens } from './kept-tokens.ts';
import { utf8Length } from '../text/utf8.ts';
import { streamNumbers } from './database.ts';
import type { Job } from './jobs.ts';
import type { PrepareRequest, Prepared } from './prepare.ts';
import { checkShares } from './preprocess/split-table.ts';
import type { Preprocessing, TextRecipe } from './preprocess/recipe.ts';
import { RowWriter, shardStarts } from './preprocess/row-store.ts';
import type { TextCells } from './preprocess/values.ts';
import { describePrepared } from './preprocess/write-rows.ts';
import { measuredTable, type MeasuredTable } from './schema/table.ts';
import { exactText, type StoredColumn } from './schema/stored.ts';
import { show } from './schema/typing.ts';

/** What stands between the texts of two rows of the table. */
const between = '\n';
/** UTF-16 units of a text at most: more than a string holds well. */
const mostCharacters = 2 ** 28;
/** A part ends behind a line, if one ends within so many UTF-16 units. */
const lineWithin = 2_000;

/** One part of the text, as rows of L tokens with the token that follows each. */
interface Part {
  readonly ids: Int32Array;
  readonly rows: number;
  /** Bytes that a token stands for. */
  readonly bytesPerToken: number;
}

/** Rows of a text. Throws InputError where it is too short, or the model reads no tokens. */
export async function prepareLanguage(
  connection: DuckDBConnection,
  { store, manifest, info, options, limits, job }: PrepareRequest,
): Promise<Prepared> {
  const { settings } = options;
  if (options.texts === 'as they are') {
    throw new InputError(
      'run.language',
      `A language model was trained on ${info.name}: it writes text, and answers no rows.`,
      'How well it tells what follows is among its scores; let it write: trainyard generate, or on its page.',
    );
  }
  // Rows of columns or of words are for learners that answer them.
  if (options.texts !== 'tokens' || options.forms?.includes('matrix') === false) {
    throw new InputError(
      'input.form',
      `${info.name} is a text to learn to write: ${options.learner ?? 'this model'} cannot.`,
      'Train a network, such as gpt-char; or choose another target or task.',
    );
  }
  const column = manifest.columns.find(({ stored }) => stored.name === info.target)?.stored;
  if (column === undefined)
    throw new InputError('input.no_target', `${info.source} has no text.`, 'Choose its column.');
  refuseUnfit(settings);
  const shares = checkShares(settings.split ?? usualSplit);
  const table = measuredTable(store.dataPath(info.id), info.rows, info.columns.length);

  job.stage('Reading the text');
  const text = await wholeText(connection, table, column, job);
  const texts = partsOf(text, shares);
  job.stage('Learning the tokens');
  const { kept: keptName, ...choice } = settings.texts ?? {};
  const kept = keptName === undefined ? undefined : (await keptTokens(store.home, keptName))[0];
  const tokenizer = kept ? tokenizerOf(kept.tokenizer) : trainedOn(texts[0], choice);
  const length = choice.length ?? kept?.exactly ?? Math.min(usualReading.length, kept?.most ?? Infinity);
  job.stage('Preparing rows');
  const parts = texts.map((part) => rowsOf(part, tokenizer, length));
  checkRows(parts, shares, length, info.source);

  const written = splitNames.map((name, at) => (options.splits?.includes(name) === false ? 0 : parts[at].rows)) as [
    number,
    number,
    number,
  ];
  const feature: TextRecipe = {
    kind: 'text',
    column: column.name,
    missing: [...column.missing],
    characters: mostCharacters,
    tokenizer: kept?.tokenizer ?? tokenizer.toJSON(),
    vocabulary: kept?.vocabulary ?? tokenizer.vocabulary,
    length,
  };
  const preprocessing: Preprocessing = {
    version: 1,
    features: [feature],
    target: { kind: 'classes', column: column.name, missing: [...column.missing], classes: tokenNames(tokenizer) },
    leftOut: info.columns.flatMap(({ name }) =>
      name === column.name ? [] : [{ column: name, reason: 'not the text' }],
    ),
    language: true,
  };
  const shape = { rows: written[0] + written[1] + written[2], element: 'f32' as const, width: length, targets: length };
  const writer = await RowWriter.create(shape, written, store, limits.memoryBytes / 2);
  try {
    for (const [at, { ids, rows }] of parts.entries()) {
      if (written[at] === 0) continue;
      for (let row = 0; row < rows; row++) {
        const own = ids.subarray(row * length, (row + 1) * length + 1);
        const x = Float32Array.from(own.subarray(0, length), (id) => id + textCodes.first);
        await writer.add(x, Float32Array.from(own.subarray(1)), 1, () => at);
      }
      job.throwIfCancelled();
    }
    const described = describePrepared(preprocessing, written, [], warningsOf(parts, tokenizer, column.name));
    const bytesPerToken = Object.fromEntries(splitNames.map((name, at) => [name, parts[at].bytesPerToken]));
    const prepared: PreparedData = {
      ...described,
      task: 'language',
      targets: length,
      shardStarts: shardStarts(shape),
      bytesPerToken: bytesPerToken as Record<SplitName, number>,
    };
    return { rows: await writer.finish(), info: prepared };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** Splits that mean nothing for one text. */
function refuseUnfit({ splitBy, fold }: PrepareRequest['options']['settings']): void {
  if (splitBy === undefined && fold === undefined) return;
  throw new InputError(
    'input.split',
    `A text is split in its order: ${fold ? 'folds' : `a split by ${splitBy!.column}`} would have it read ahead.`,
    'Leave that out.',
  );
}

async function wholeText(
  connection: DuckDBConnection,
  table: MeasuredTable,
  column: StoredColumn,
  job: Job,
): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  await streamNumbers(connection, `SELECT ${exactText(column)} FROM ${table.from}`, job, ([cells], rows) => {
    for (let row = 0; row < rows; row++) {
      const text = (cells as unknown as TextCells).getItem(row);
      if (text === null) continue;
      texts.push(text);
      length += text.length + between.length;
      if (length <= mostCharacters) continue;
      throw new InputError(
        'input.too_large',
        `The text has more than ${show(mostCharacters)} characters.`,
        'Train on a part of it.',
      );
    }
  });
  return texts.join(between).toWellFormed();
}

/** The text to train on, and those to validate and test by, behind it in this order. */
function partsOf(text: string, [train, validation, test]: readonly [number, number, number]): readonly string[] {
  const first = borderAt(text, train);
  const second = test > 0 ? borderAt(text, train + validation) : text.length;
  return [text.slice(0, first), text.slice(first, Math.max(first, second)), text.slice(Math.max(first, second))];
}

/** The place behind this share of a text: behind a line where one ends soon, never within a character. */
function borderAt(text: string, share: number): number {
  if (share >= 1 - 1e-9) return text.length;
  const place = Math.round(text.length * share);
  const line = text.indexOf('\n', place);
  if (line >= 0 && line < place + Math.min(lineWithin, text.length / 50)) return line + 1;
  return (text.codePointAt(place - 1) ?? 0) > 0xffff ? place + 1 : place;
}

function trainedOn(text: string, { tokenizer, vocabulary }: TextChoice): Tokenizer {
  const kind = tokenizer ?? (text.length <= shortText ? 'characters' : 'bytes');
  if (kind !== 'characters' && kind !== 'bytes') {
    throw new InputError(
      'input.tokenizer',
      `Tokens of the kind “${kind}” cannot be put together to the text they are of.`,
      'Choose characters or bytes.',
    );
  }
  // Lines by lines, so that no list of all its words is needed at once.
  return trainTokenizer(text.match(/[^\n]*\n|[^\n]+/g) ?? [], { kind, vocabulary: vocabulary ?? usualReading[kind] });
}

function rowsOf(text: string, tokenizer: Tokenizer, length: number): Part {
  const ids = tokenizer.encode(text, { plain: true });
  const rows = Math.max(0, Math.floor((ids.length - 1) / length));
  return { ids, rows, bytesPerToken: ids.length > 0 ? utf8Length(text) / ids.length : NaN };
}

function checkRows(parts: readonly Part[], shares: readonly number[], length: number, source: string): void {
  const short = splitNames.filter((_, at) => shares[at] > 0 && parts[at].rows < (at === 0 ? 2 : 1));
  if (short.length === 0) return;
  throw new InputError(
    'input.too_few_rows',
    `${source} is too short: rows of ${show(length)} tokens leave too little of it for ${short.join(' and ')}.`,
    'Choose a longer text, a smaller --length, or another split.',
  );
}

/** Characters that the training part has never shown. */
function warningsOf(parts: readonly Part[], tokenizer: Tokenizer, column: string): DataWarning[] {
  const { unknown } = tokenizer.special;
  if (unknown === undefined) return [];
  const [trained, ...others] = parts.map(({ ids }) => ids.reduce((sum, id) => sum + Number(id === unknown), 0));
  const unseen = others.reduce((sum, count) => sum + count, 0);
  const said = (count: number, where: string, why: string): DataWarning[] => {
    if (count === 0) return [];
    const message = `${show(count)} ${count === 1 ? 'character' : 'characters'} of ${where} ${why}: the model reads one sign for all of them.`;
    return [{ code: 'unknown_tokens', message, columns: [column] }];
  };
  return [
    ...said(trained, 'the training text', 'are too rare for the vocabulary'),
    ...said(unseen, 'the other texts', 'do not stand in the training text'),
  ];
}
