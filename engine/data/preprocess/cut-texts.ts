// Texts of a file of which a model does not read all, counted while rows are made of them: those with more characters than are read, and those with
// more tokens. Of rows of tokens only those are counted again in which every place is taken; of columns as they are each text, by the tokenizers of
// the models that read it: one that is cut for one of them is cut.

import type { DataWarning } from '../../protocol/data.ts';
import type { Preprocessing, TextReading, TextRecipe } from './recipe.ts';
import { tokenizerFor } from './texts.ts';
import type { RawCells, TextCells, Values } from './values.ts';

interface Counted {
  readonly recipe: TextRecipe;
  readonly readings: readonly TextReading[];
  /** Which of the features it is, and where its codes end, counted from the end of a row; null: rows hold texts as they are. */
  readonly index: number;
  readonly behind: number | null;
  cut: number;
  /** Some have more characters than are read, though not as many tokens. */
  byCharacters: boolean;
}

export class CutTexts {
  readonly #texts: readonly Counted[];
  #rows = 0;

  constructor({ features, form, language }: Preprocessing) {
    let behind = 0;
    const texts = features.flatMap((recipe, index) =>
      recipe.kind === 'text' ? [{ recipe, index, cut: 0, byCharacters: false }] : [],
    );
    const counted = texts.toReversed().map((text): Counted => {
      const { readings = form === 'columns' ? [] : [text.recipe], length } = text.recipe;
      const place = { ...text, readings, behind: form === 'columns' ? null : behind };
      behind += length;
      return place;
    });
    this.#texts = language ? [] : counted.reverse().filter(({ readings }) => readings.length > 0);
  }

  /** `columns` in the order of the features, and what was made of them: x [rows, width]. */
  watch(columns: readonly RawCells[], rows: number, x: Values, width: number): void {
    this.#rows += rows;
    for (const text of this.#texts) {
      const cells = columns[text.index] as TextCells;
      const full = (row: number): boolean => text.behind === null || x[(row + 1) * width - text.behind - 1] !== 0;
      for (let row = 0; row < rows; row++) {
        const cell = cells.getItem(row) ?? '';
        const beyond = text.readings.some(({ characters }) => cell.length > characters);
        if (!beyond && !(full(row) && text.readings.some((reading) => hasMore(reading, cell)))) continue;
        text.cut++;
        text.byCharacters ||= beyond && (text.behind === null || !full(row));
      }
    }
  }

  get warnings(): readonly DataWarning[] {
    return this.#texts.flatMap(({ recipe: { column }, readings, cut, byCharacters }): readonly DataWarning[] => {
      if (cut === 0) return [];
      const tokens = `${range(readings.map(({ length }) => length))} tokens`;
      const read = byCharacters
        ? `${tokens} or ${range(readings.map(({ characters }) => characters))} characters`
        : tokens;
      const [some, all] = [cut, this.#rows].map(shown);
      const one = this.#rows === 1 ? 'the text is' : `${some} of ${all} texts ${cut === 1 ? 'is' : 'are'}`;
      const what = `${readings.some(({ keepsEnd }) => keepsEnd) ? 'the beginning' : 'the rest'} of ${cut === 1 ? 'it' : 'them'}`;
      const message = `${column}: ${one} longer than the ${read} that the model reads; ${what} is not read.`;
      return [{ code: 'cut_texts', message, columns: [column] }];
    });
  }
}

const shown = (count: number): string => count.toLocaleString('en');

/** `18`, or of models that read different lengths `18 to 405`. */
const range = (lengths: readonly number[]): string =>
  [...new Set([Math.min(...lengths), Math.max(...lengths)])].map(shown).join(' to ');

const hasMore = (reading: TextReading, text: string): boolean =>
  text !== '' && tokenizerFor(reading).encode(text, { most: reading.length + 1 }).length > reading.length;
