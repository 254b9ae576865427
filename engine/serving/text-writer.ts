// A finished language model kept ready to write, for the command line and the window alike: the same seed gives the same text in both.

import type { Backend } from '../backends/backend.ts';
import { parsePreprocessing } from '../data/preprocess/recipe.ts';
import { lazyBackend, type LazyBackend } from '../learners/lazy-backend.ts';
import type { Resident } from '../learners/learner.ts';
import { readWriter } from '../learners/predict.ts';
import type { OutputSpec } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import type { ModelSource } from '../protocol/serving.ts';
import { languageOf, type Language } from '../text/language.ts';
import { fromCodes, generate, keptFrom, type Following, type GenerateOptions } from '../train/generate.ts';
import { dataOf } from './served-model.ts';

/** Unknown signs that are named at most. */
const shownSigns = 8;

interface Parts {
  readonly output: OutputSpec;
  readonly language: Language;
  readonly following: Following;
  /** Of a model that computes the whole context each time. */
  readonly resident?: Resident;
  readonly backend?: LazyBackend;
}

export class TextWriter {
  readonly output: OutputSpec;
  readonly #parts: Parts;

  /** Null: the run answers rows. Throws InputError `model.weights`, `input.preprocessing`, `run.damaged_file`. */
  static async open(
    source: Omit<ModelSource, 'name'>,
    openBackend: () => Promise<Backend>,
  ): Promise<TextWriter | null> {
    const preprocessing = parsePreprocessing(parseRunJson(source.preprocessing, source.run, 'preprocessing.json'));
    const language = languageOf(preprocessing);
    if (language === null) return null;
    const trained = readWriter(source.model, source.weights, source.run);
    const data = dataOf(preprocessing);
    const { output } = trained.file;
    const quick = language.length < keptFrom ? null : (trained.following?.(data) ?? null);
    if (quick) return new TextWriter({ language, output, following: async (ids) => quick(ids) });
    if (!trained.resident) return null;
    const backend = lazyBackend(openBackend);
    try {
      const resident = await trained.resident(data, backend.open);
      const following = fromCodes(language.length, (codes) => resident.outputs(codes, 1));
      return new TextWriter({ language, output, following, resident, backend });
    } catch (error) {
      await backend.close();
      throw error;
    }
  }

  private constructor(parts: Parts) {
    this.output = parts.output;
    this.#parts = parts;
  }

  /** What is said of a prompt with characters or words that the tokenizer does not know; null: it knows them all. */
  unread(prompt: string): string | null {
    const { tokenizer } = this.#parts.language;
    const { unknown } = tokenizer.special;
    if (unknown === undefined) return null;
    const signs = new Set(tokenizer.tokens(prompt).flatMap(({ id, text }) => (id === unknown ? [text] : [])));
    if (signs.size === 0) return null;
    const shown = [...signs].slice(0, shownSigns).join(' ');
    return `The model has never read ${shown}${signs.size > shownSigns ? ' …' : ''} of the prompt: it takes one sign for all that it does not know.`;
  }

  /** See `generate`. One text at a time. */
  write(options: GenerateOptions): AsyncGenerator<string> {
    return generate(this.#parts.following, this.#parts.language, options);
  }

  async close(): Promise<void> {
    this.#parts.resident?.close();
    await this.#parts.backend?.close();
  }
}

/** There is nothing it could write. */
export const noWriter = (run: number): InputError =>
  new InputError(
    'run.no_language',
    `Run ${run} is no language model: there is nothing it could write.`,
    'Train one on a text: trainyard train book.txt',
  );
