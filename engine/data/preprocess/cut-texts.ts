// Texts of a file of which a model does not read all, counted while rows are made of them. Of rows of tokens only those are looked at again in which
// every place is taken; of columns as they are each text, by the tokenizers of the models that read it: one that is cut for one of them is cut.

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
}

export class CutTexts {
  readonly #texts: readonly Counted[];
  #rows = 0;

  constructor({ features, form, language }: Preprocessing) {
    let behind = 0;
    const texts = features.flatMap((recipe, index) => (recipe.kind === 'text' ? [{ recipe, index, cut: 0 }] : []));
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
        const cell = full(row) ? (cells.getItem(row) ?? '') : '';
        if (text.readings.some((reading) => isCut(reading, cell))) text.cut++;
      }
    }
  }

  get warnings(): readonly DataWarning[] {
    return this.#texts.flatMap(({ recipe: { column }, readings, cut }): readonly DataWarning[] => {
      if (cut === 0) return [];
      const lengths = readings.map(({ length }) => length);
      const ends = [...new Set([Math.min(...lengths), Math.max(...lengths)])];
      const [some, all] = [cut, this.#rows].map(shown);
      const many = `${some} of ${all} texts ${cut === 1 ? 'is' : 'are'} longer`;
      const what = readings.some(({ keepsEnd }) => keepsEnd) ? 'the beginning' : 'the rest';
      const message = `${column}: ${many} than the ${ends.map(shown).join(' to ')} tokens that the model reads; ${what} of them is not read.`;
      return [{ code: 'cut_texts', message, columns: [column] }];
    });
  }
}

const shown = (count: number): string => count.toLocaleString('en');

/** A text beyond `characters` has been cut there already. */
const isCut = (reading: TextReading, text: string): boolean =>
  text !== '' &&
  (text.length > reading.characters ||
    tokenizerFor(reading).encode(text, { most: reading.length + 1 }).length > reading.length);
