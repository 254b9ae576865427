// Tokenizers that a run takes over from the one it begins with: `<home>/tokenizers/HASH.json`, named by their content in the settings of the run
// (`texts.kept`). The recipe of the run holds its tokenizer as every recipe does; these are what it is prepared with.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { explainHome } from './failures.ts';
import { parsePreprocessing, textFeatures } from './preprocess/recipe.ts';

const keptText = z.object({
  tokenizer: z.unknown(),
  /** Ids are below it: rows of the table of tokens. */
  vocabulary: z.int().positive(),
  /** Texts are read at this very length: its model has a vector for each place, and none for fewer or more. */
  exactly: z.int().positive().optional(),
  /** Tokens that its model reads at most. */
  most: z.int().positive().optional(),
  /** As recipes have them. */
  keepsEnd: z.boolean().optional(),
  placeless: z.string().min(1).optional(),
});
/** How a column of text is read. */
export type KeptText = Readonly<z.infer<typeof keptText>>;

/** Those of the columns of text, in their order. */
const keptTexts = z.array(keptText).min(1);

const folderOf = (home: string): string => join(home, 'tokenizers');
const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Keeps the tokenizers of a run's recipe and gives their name; null where it reads no tokens of texts. */
export async function keepTokens(home: string, preprocessing: unknown, places?: number): Promise<string | null> {
  const lengthOf = (length: number): Partial<KeptText> =>
    places === undefined ? { exactly: length } : places > 0 ? { most: places } : {};
  const texts = textFeatures(parsePreprocessing(preprocessing)).flatMap(
    ({ tokenizer, vocabulary, length, keepsEnd, placeless }) =>
      tokenizer === undefined ? [] : [{ tokenizer, vocabulary, ...lengthOf(length), keepsEnd, placeless }],
  );
  if (texts.length === 0) return null;
  const text = JSON.stringify(texts satisfies readonly KeptText[]);
  const name = nameOf(text);
  const folder = folderOf(home);
  const written = join(folder, `.${name}-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(written, text);
    await rename(written, join(folder, `${name}.json`));
  } catch (error) {
    throw explainHome(error, home);
  }
  return name;
}

/** What was kept by this name. Throws InputError `input.tokenizer` where it is gone or damaged. */
export async function keptTokens(home: string, name: string): Promise<readonly KeptText[]> {
  const text = await readFile(join(folderOf(home), `${name}.json`), 'utf8').catch(() => null);
  if (text !== null && nameOf(text) === name) return keptTexts.parse(JSON.parse(text));
  throw new InputError(
    'input.tokenizer',
    `The tokenizer that was kept as ${name} is ${text === null ? 'gone' : 'damaged'}.`,
    'Begin the run again with the model that it comes from.',
  );
}

/** What each column is read by: all of them by a single one. Throws InputError `input.tokenizer` where there are others. */
export function keptByColumn(kept: readonly KeptText[], columns: readonly string[]): readonly KeptText[] {
  if (kept.length === 1) return columns.map(() => kept[0]);
  if (kept.length === columns.length) return kept;
  throw new InputError(
    'input.tokenizer',
    `The model to begin with reads ${kept.length} columns of text, and here are ${columns.length}.`,
    `Name ${kept.length} of them, in its order.`,
  );
}
